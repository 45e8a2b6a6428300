#include "model/layers/random_crop/random_crop.h"

namespace hopper {
namespace layers {

RandomCrop::RandomCrop(LayerConfig& config) : Resized(config) {
  config.Ignore("seed");                 // the configuration's seed decides
  config.Ignore("bounding_box_format");  // of what else Keras may be given
}

}  // namespace layers
}  // namespace hopper
