// A node over series while it is planned as one over images of height 1: the floats are the same.
#pragma once

#include "model/planned/planned_op.h"

namespace hopper {

class NodeAsImage {
 public:
  explicit NodeAsImage(PlanNode* node) : node_(node) {
    for (PlanValue* value : {node->inputs[0], node->output}) {
      value->shape.insert(value->shape.begin(), 1);
    }
  }
  ~NodeAsImage() {
    for (PlanValue* value : {node_->inputs[0], node_->output}) {
      value->shape.erase(value->shape.begin());
    }
  }
  NodeAsImage(const NodeAsImage&) = delete;
  NodeAsImage& operator=(const NodeAsImage&) = delete;

 private:
  PlanNode* node_;
};

}  // namespace hopper
