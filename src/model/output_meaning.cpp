#include "model/output_meaning.h"

#include "base/product.h"
#include "params/loss_type.h"

namespace hopper {

OutputMeaning MeaningOf(const ModelOutput& end, LossKind loss, const DataDesc& data,
                        const DataOutput& labels) {
  if (labels.kind == LabelKind::kClass) return OutputMeaning::kClasses;
  if (labels.kind == LabelKind::kValue) return OutputMeaning::kValues;
  const LossType& type = LossTypeOf(loss);
  if (end.shape.size() < 2) {
    const bool reconstructs = !type.categorical && end.ends_in != Activation::kSoftmax &&
                              IsFloat(data.y_type) &&
                              ElementCount(labels.shape) == data.x_elements();
    return type.of_classes && !reconstructs ? OutputMeaning::kClasses : OutputMeaning::kValues;
  }
  const bool each = end.shape.back() > 1 ? end.ends_in == Activation::kSoftmax || type.categorical
                                         : !IsFloat(data.y_type) && !type.of_numbers;
  return each ? OutputMeaning::kClassEach : OutputMeaning::kValues;
}

Shape ShapeOfPrediction(const ModelOutput& end, OutputMeaning meaning, const Shape& labels) {
  Shape shape = end.shape;
  if (meaning == OutputMeaning::kClassEach && shape.back() > 1) shape.pop_back();
  return ElementCount(labels) == ElementCount(shape) && !labels.empty() ? labels : shape;
}

OutputMeaning MeaningOf(const ModelOutput& end, bool named) {
  const bool softmax = end.ends_in == Activation::kSoftmax;
  if (end.shape.size() > 1) {
    return named || softmax ? OutputMeaning::kClassEach : OutputMeaning::kValues;
  }
  const bool several = ElementCount(end.shape) > 1;
  const bool probabilities = softmax || end.ends_in == Activation::kSigmoid;
  return named || (several && probabilities) ? OutputMeaning::kClasses : OutputMeaning::kValues;
}

}  // namespace hopper
