// Texts that are equal for equal losses.
#include <sstream>

#include "train/trainer_parts.h"

namespace hopper {

void WriteLoss(const LossOptions& options, const std::string& name, std::ostream* to) {
  std::ostream& out = *to;
  out << options.from_logits << ' ' << options.label_smoothing << ' ' << options.delta << ' '
      << options.alpha << ' ' << options.gamma << ' ' << options.class_balancing << ' '
      << options.beta << ' ' << options.q;
  for (const int axis : options.axes) out << ' ' << axis;
  if (options.ignore_class) out << " ignore " << *options.ignore_class;
  if (options.expression != nullptr) out << ' ' << name.size() << ' ' << name;
  out << ';';
}

std::string LossText(const CompileParams& compile) {
  std::ostringstream text;
  text.precision(17);
  text << static_cast<int>(compile.loss) << ' ';
  WriteLoss(compile.loss_options, compile.loss_name, &text);
  // A single one is what stands above.
  for (const OutputLoss& loss : compile.losses) {
    if (compile.losses.size() == 1 && loss.weight == 1.0) continue;
    text << static_cast<int>(loss.loss) << ' ' << loss.weight << ' ';
    WriteLoss(loss.options, loss.name, &text);
  }
  return text.str();
}

std::string LayoutText(const Objective& objective) {
  std::ostringstream text;
  if (objective.plain) return "";
  for (const ObjectivePart& part : objective.parts) {
    text << ' ' << part.label_first << ' ' << part.label_size << ' ' << part.classes << ' '
         << part.num_classes;
  }
  text << ' ' << objective.weighted;
  return text.str();
}

}  // namespace hopper
