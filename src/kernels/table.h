// The table of this file's instruction set. Included by the kernel files.
#pragma once

#include "kernels/activations.h"
#include "kernels/depthwise.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/images.h"
#include "kernels/sequences.h"
#include "kernels/winograd.h"

namespace {

constexpr hopper::Kernels TableNamed(const char* name) {
  return {name,
          Gemm,
          PackRight,
          Transpose,
          ColumnSums,
          ColumnProducts,
          Norm,
          NormSums,
          NormGradient,
          Activate,
          ActivateGradient,
          Softmax,
          SoftmaxGradient,
          SoftmaxLogSum,
          SigmoidLoss,
          DifferenceLoss,
          AddTo,
          Scale,
          AddScaled,
          Dropout,
          DropoutGradient,
          MaxPool,
          MaxPoolGradient,
          ByOutputs<WinogradInput<2>, WinogradInput<4>>::Run,
          ByOutputs<WinogradInputGradient<2>, WinogradInputGradient<4>>::Run,
          ByOutputs<WinogradOutput<2>, WinogradOutput<4>>::Run,
          ByOutputs<WinogradGradient<2>, WinogradGradient<4>>::Run,
          ByOutputs<WinogradWeights<2>, WinogradWeights<4>>::Run,
          ByOutputs<WinogradWeightsGradient<2>, WinogradWeightsGradient<4>>::Run,
          AveragePool,
          AveragePoolGradient,
          Depthwise,
          DepthwiseInputGradient,
          DepthwiseKernelGradient,
          Multiply,
          LogSoftmax,
          LogSoftmaxGradient,
          Glu,
          GluGradient,
          Cosine,
          Lstm,
          LstmGradient,
          Gru,
          GruGradient,
          NormalizeRows,
          NormalizeRowsGradient};
}

}  // namespace
