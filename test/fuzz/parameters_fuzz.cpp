// The texts of compile_params, fit_params and grids, and what is written of them again.
#include <vector>

#include "fuzz.h"
#include "params/grid.h"
#include "params/params.h"

using namespace hopper;

namespace {

template <typename Parse>
void ParseText(const std::string& text, const Parse& parse) {
  Try([&] {
    std::vector<ParamProblem> problems;
    parse(text, &problems);
    for (const ParamProblem& problem : problems) {
      Expect(!problem.message.empty() && problem.code != ErrorCode::kInternal, "a message");
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  FuzzInput in(data, size);
  const auto what = in.Get<uint8_t>();
  const std::string text = in.Rest();
  switch (what % 4) {
    case 0:
      ParseText(text, [](std::string_view t, auto* problems) { ParseCompileParams(t, problems); });
      break;
    case 1:
      ParseText(text, [](std::string_view t, auto* problems) { ParseFitParams(t, problems); });
      break;
    default: {
      // The two grids with a line feed between.
      const size_t middle = text.find('\n');
      GridRequest request;
      request.model_ids = {1, 2};
      request.compile_grid = text.substr(0, middle);
      request.fit_grid = middle == std::string::npos ? "{}" : text.substr(middle + 1);
      request.random = what % 4 == 3;
      request.num_configs = 3;
      request.max_configs = 200;
      Try([&] {
        const std::vector<Configuration> made = GenerateConfigs(request);
        Expect(made.size() <= 200, "no more than were asked for");
      });
    }
  }
  return 0;
}
