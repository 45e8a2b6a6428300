// Networks that follow from packed data: multilayer perceptrons, and convolutions of images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/recipes/row_layout.h"

namespace hopper {

struct NetworkRequest {
  bool of_images = false;  // convolutions stand before the hidden layers
  std::vector<int64_t> filters;
  int64_t kernel_size = 3;
  int64_t pooling = 2;  // 1: none
  std::vector<int64_t> hidden;
  std::string activation;
  double dropout = 0.0;
  bool batch_norm = false;
};

// The architecture, Keras' JSON. Its input has the shape of the packed features; places of a row
// that are ids are embedded first. For each output it ends with a layer that follows from the
// labels: one sigmoid unit for two classes, softmax over more, a sigmoid for each of an array of
// booleans, one or several linear units for numbers. Throws where the data have one class only, or
// hold no images for convolutions.
std::string MakeNetwork(const NetworkRequest& request, const DataDesc& data,
                        const RowLayout& layout);

}  // namespace hopper
