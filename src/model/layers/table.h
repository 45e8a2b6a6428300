// All layers: a row each, under the names of Keras' classes and in their order.
#pragma once

#include "model/layers/activation/activation.h"
#include "model/layers/activation/elu.h"
#include "model/layers/activation/leaky_relu.h"
#include "model/layers/activation/relu.h"
#include "model/layers/activation/softmax.h"
#include "model/layers/activation/thresholded_relu.h"
#include "model/layers/activity_regularization/activity_regularization.h"
#include "model/layers/attention/attention.h"
#include "model/layers/attention/head_attention.h"
#include "model/layers/batch_normalization/batch_normalization.h"
#include "model/layers/border_2d/border_2d.h"
#include "model/layers/category_embedding/category_embedding.h"
#include "model/layers/category_encoding/category_encoding.h"
#include "model/layers/comparison/comparison.h"
#include "model/layers/concatenate/concatenate.h"
#include "model/layers/constant/constant.h"
#include "model/layers/conv_1d/conv_1d.h"
#include "model/layers/conv_2d/conv_2d.h"
#include "model/layers/conv_lstm/conv_lstm.h"
#include "model/layers/conv_transpose/conv_transpose.h"
#include "model/layers/cumulative_sum/cumulative_sum.h"
#include "model/layers/dense/dense.h"
#include "model/layers/dense_batch_ensemble/dense_batch_ensemble.h"
#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"
#include "model/layers/dot/dot.h"
#include "model/layers/dropout/dropout.h"
#include "model/layers/einsum/einsum.h"
#include "model/layers/einsum_dense/einsum_dense.h"
#include "model/layers/elementwise/elementwise.h"
#include "model/layers/embedding/embedding.h"
#include "model/layers/ensemble_average/ensemble_average.h"
#include "model/layers/flatten/flatten.h"
#include "model/layers/floor_divide/floor_divide.h"
#include "model/layers/get_item/get_item.h"
#include "model/layers/global_pooling_1d/global_pooling_1d.h"
#include "model/layers/global_pooling_2d/global_pooling_2d.h"
#include "model/layers/group_normalization/group_normalization.h"
#include "model/layers/identity/identity.h"
#include "model/layers/input_layer/input_layer.h"
#include "model/layers/layer_normalization/layer_normalization.h"
#include "model/layers/layer_scale/layer_scale.h"
#include "model/layers/lookup/lookup.h"
#include "model/layers/lookup/text_vectorization.h"
#include "model/layers/masking/masking.h"
#include "model/layers/matmul/matmul.h"
#include "model/layers/merge/merge.h"
#include "model/layers/noise/noise.h"
#include "model/layers/normalization/normalization.h"
#include "model/layers/ntk_dense/ntk_dense.h"
#include "model/layers/one_hot/one_hot.h"
#include "model/layers/parametric_activation/parametric_activation.h"
#include "model/layers/periodic_embedding/periodic_embedding.h"
#include "model/layers/permute/permute.h"
#include "model/layers/pooling_1d/pooling_1d.h"
#include "model/layers/pooling_2d/pooling_2d.h"
#include "model/layers/power/power.h"
#include "model/layers/prelu/prelu.h"
#include "model/layers/random_crop/random_crop.h"
#include "model/layers/random_image/random_image.h"
#include "model/layers/recurrent/recurrent.h"
#include "model/layers/reduction/reduction.h"
#include "model/layers/repeat/repeat.h"
#include "model/layers/rescaling/rescaling.h"
#include "model/layers/reshape/reshape.h"
#include "model/layers/resizing/resizing.h"
#include "model/layers/separable_conv_1d/separable_conv_1d.h"
#include "model/layers/separable_conv_2d/separable_conv_2d.h"
#include "model/layers/spatial_dropout_1d/spatial_dropout_1d.h"
#include "model/layers/spectral_normalization/spectral_normalization.h"
#include "model/layers/split/split.h"
#include "model/layers/stack/stack.h"
#include "model/layers/steps/steps.h"
#include "model/layers/take/take.h"
#include "model/layers/temperature/temperature.h"
#include "model/layers/time_distributed/time_distributed.h"
#include "model/layers/unit_normalization/unit_normalization.h"
#include "model/layers/up_sampling_2d/up_sampling_2d.h"
#include "model/layers/where/where.h"

namespace hopper {

template <typename... L>
struct LayerList {};

using Layers = LayerList<
    layers::Absolute, layers::ActivationByName, layers::ActivityRegularization, layers::Add,
    layers::AdditiveAttention, layers::AlphaDropout, layers::Arctan, layers::AttentionLayer,
    layers::Average, layers::AveragePooling1D, layers::AveragePooling2D, layers::BatchNormalization,
    layers::Bidirectional, layers::Cast, layers::CategoryEmbedding, layers::CategoryEncoding,
    layers::Ceil, layers::CenterCrop, layers::Clip, layers::Concatenate, layers::Constant,
    layers::Conv1D, layers::Conv1DTranspose, layers::Conv2D, layers::Conv2DTranspose,
    layers::ConvLSTM1D, layers::ConvLSTM2D, layers::Cos, layers::Cosh, layers::Cropping1D,
    layers::Cropping2D, layers::CumulativeSum, layers::CustomScaleLayer, layers::Dense,
    layers::DenseBatchEnsemble, layers::DepthwiseConv1D, layers::DepthwiseConv2D,
    layers::Discretization, layers::Divide, layers::Dot, layers::Dropout, layers::ELU,
    layers::Einsum, layers::EinsumDense, layers::Embedding, layers::EnsembleAverage, layers::Equal,
    layers::ExpandDims, layers::Expm1, layers::Flatten, layers::Floor, layers::FloorDivide,
    layers::GRU, layers::GaussianDropout, layers::GaussianNoise, layers::GetItem,
    layers::GlobalAveragePooling1D, layers::GlobalAveragePooling2D, layers::GlobalMaxPooling1D,
    layers::GlobalMaxPooling2D, layers::Greater, layers::GreaterEqual, layers::GroupNormalization,
    layers::GroupQueryAttention, layers::Hashing, layers::Identity, layers::InputLayer,
    layers::IntegerLookup, layers::Log10, layers::Log2, layers::Logsumexp, layers::LSTM,
    layers::LayerNormalization, layers::LayerScale, layers::LeakyReLU, layers::Less,
    layers::LessEqual, layers::Log, layers::Log1p, layers::LogicalAnd, layers::LogicalOr,
    layers::MaskingLayer, layers::Matmul, layers::Max, layers::MaxPooling1D, layers::MaxPooling2D,
    layers::Maximum, layers::Mean, layers::Min, layers::Minimum, layers::Mod, layers::Moveaxis,
    layers::MultiHeadAttention, layers::Multiply, layers::Norm, layers::Normalization,
    layers::NTKDense, layers::NotEqual, layers::OneHot, layers::PReLU, layers::ParametricActivation,
    layers::PeriodicEmbedding, layers::Permute, layers::Power, layers::Prod, layers::Repeat,
    layers::RMSNormalization, layers::RandomBrightness, layers::RandomContrast, layers::RandomCrop,
    layers::RandomFlip, layers::RandomRotation, layers::RandomTranslation, layers::RandomZoom,
    layers::ReLU, layers::Reciprocal, layers::RepeatVector, layers::Rescaling, layers::Reshape,
    layers::Resizing, layers::Round, layers::Rsqrt, layers::SeparableConv1D,
    layers::SeparableConv2D, layers::Sign, layers::SimpleRNN, layers::Sin, layers::Sinh,
    layers::Softmax, layers::SpatialDropout1D, layers::SpatialDropout2D,
    layers::SpectralNormalization, layers::Split, layers::Sqrt, layers::Square, layers::Squeeze,
    layers::Stack, layers::Std, layers::StringLookup, layers::Subtract, layers::Sum,
    layers::Swapaxes, layers::Take, layers::Tan, layers::Temperature, layers::TextVectorization,
    layers::ThresholdedReLU, layers::Tile, layers::TimeDistributed, layers::UnitNormalization,
    layers::UpSampling1D, layers::UpSampling2D, layers::Var, layers::Where, layers::ZeroPadding1D,
    layers::ZeroPadding2D>;

}  // namespace hopper
