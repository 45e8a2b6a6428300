#include "params/other_names.h"

namespace hopper {

const OtherNames& OtherLossNames() {
  static const std::vector<std::string> crossentropy = {"categorical_crossentropy",
                                                        "binary_crossentropy"};
  static const OtherNames names = {
      {"logloss", crossentropy},
      {"crossentropy", crossentropy},
      {"crossentropyloss", crossentropy},
      {"softmaxcrossentropy", {"categorical_crossentropy"}},
      {"multiclasslogloss", {"categorical_crossentropy"}},
      {"nll", {"categorical_crossentropy"}},
      {"nllloss", {"categorical_crossentropy"}},
      {"deviance", crossentropy},
      {"logistic", {"binary_crossentropy"}},
      {"binarylogloss", {"binary_crossentropy"}},
      {"bceloss", {"binary_crossentropy"}},
      {"bcewithlogits", {"BinaryCrossentropy(from_logits=True)"}},
      {"bcewithlogitsloss", {"BinaryCrossentropy(from_logits=True)"}},
      {"l1", {"mean_absolute_error"}},
      {"l1loss", {"mean_absolute_error"}},
      {"absoluteerror", {"mean_absolute_error"}},
      {"l2", {"mean_squared_error"}},
      {"l2loss", {"mean_squared_error"}},
      {"mseloss", {"mean_squared_error"}},
      {"squarederror", {"mean_squared_error"}},
      {"leastsquares", {"mean_squared_error"}},
      {"rmse", {"mean_squared_error"}},
      {"smoothl1", {"huber"}},
      {"smoothl1loss", {"huber"}},
      {"kldivloss", {"kl_divergence"}},
      {"poissonnllloss", {"poisson"}},
      {"hingeloss", {"hinge"}},
      {"focal", {"binary_focal_crossentropy", "categorical_focal_crossentropy"}},
      {"focalloss", {"binary_focal_crossentropy", "categorical_focal_crossentropy"}},
  };
  return names;
}

const OtherNames& OtherMetricNames() {
  static const OtherNames names = {
      {"rocauc", {"auc"}},
      {"rocaucscore", {"auc"}},
      {"auroc", {"auc"}},
      {"aucroc", {"auc"}},
      {"prauc", {"AUC(curve='PR')"}},
      {"aucpr", {"AUC(curve='PR')"}},
      {"averageprecision", {"AUC(curve='PR')"}},
      {"f1", {"f1_score"}},
      {"fscore", {"f1_score"}},
      {"f1measure", {"f1_score"}},
      {"fbeta", {"fbeta_score"}},
      {"accuracyscore", {"accuracy"}},
      {"logloss", {"crossentropy"}},
      {"neglogloss", {"crossentropy"}},
      {"crossentropyloss", {"crossentropy"}},
      {"sensitivity", {"recall"}},
      {"truepositiverate", {"recall"}},
      {"ppv", {"precision"}},
      {"jaccard", {"MeanIoU"}},
      {"iouscore", {"MeanIoU"}},
      {"r2", {"r2_score"}},
      {"rsquared", {"r2_score"}},
      {"l1", {"mean_absolute_error"}},
      {"l2", {"mean_squared_error"}},
  };
  return names;
}

const OtherNames& OtherCompileKeys() {
  static const OtherNames names = {
      {"objective", {"loss"}},   {"criterion", {"loss"}},  {"lossfunction", {"loss"}},
      {"lossfn", {"loss"}},      {"metric", {"metrics"}},  {"evalmetric", {"metrics"}},
      {"solver", {"optimizer"}}, {"optim", {"optimizer"}}, {"opt", {"optimizer"}},
  };
  return names;
}

const OtherNames& OtherFitKeys() {
  static const OtherNames names = {
      {"batch", {"batch_size"}},
      {"bs", {"batch_size"}},
      {"minibatchsize", {"batch_size"}},
      {"maxiter", {"epochs"}},
      {"maxiterations", {"epochs"}},
      {"nepochs", {"epochs"}},
      {"nbepoch", {"epochs"}},
      {"nbepochs", {"epochs"}},
      {"numepochs", {"epochs"}},
      {"autoclassweights", {"class_weight"}},
      {"classweights", {"class_weight"}},
      {"randomstate", {"seed"}},
      {"randomseed", {"seed"}},
      {"earlystoppingrounds", {"patience"}},
      {"earlystopping", {"patience"}},
      {"niternochange", {"patience"}},
      {"restorebestweights", {"restore_best"}},
  };
  return names;
}

const OtherNames& OtherOptimizerArguments() {
  static const OtherNames names = {
      {"eta", {"learning_rate"}},
      {"alpha", {"learning_rate"}},
      {"stepsize", {"learning_rate"}},
      {"learningrateinit", {"learning_rate"}},
      {"eps", {"epsilon"}},
      {"betas", {"beta_1", "beta_2"}},
      {"beta1", {"beta_1"}},
      {"beta2", {"beta_2"}},
      {"l2", {"weight_decay"}},
      {"gradclip", {"clipnorm"}},
      {"maxgradnorm", {"global_clipnorm"}},
  };
  return names;
}

const OtherNames& OtherLayerNames() {
  static const OtherNames names = {
      {"linear", {"Dense"}},
      {"fc", {"Dense"}},
      {"fullyconnected", {"Dense"}},
      {"conv", {"Conv2D"}},
      {"batchnorm", {"BatchNormalization"}},
      {"batchnorm1d", {"BatchNormalization"}},
      {"batchnorm2d", {"BatchNormalization"}},
      {"maxpool", {"MaxPooling2D"}},
      {"maxpool2d", {"MaxPooling2D"}},
      {"avgpool2d", {"AveragePooling2D"}},
      {"averagepool2d", {"AveragePooling2D"}},
      {"adaptiveavgpool2d", {"GlobalAveragePooling2D"}},
      {"globalavgpool2d", {"GlobalAveragePooling2D"}},
      {"globalmaxpool2d", {"GlobalMaxPooling2D"}},
      {"concat", {"Concatenate"}},
      {"merge", {"Concatenate", "Add"}},
      {"view", {"Reshape"}},
      {"unflatten", {"Reshape"}},
      {"dropout2d", {"Dropout"}},
      {"sigmoid", {"Activation"}},
      {"tanh", {"Activation"}},
      {"gelu", {"Activation"}},
      {"silu", {"Activation"}},
      {"input", {"InputLayer"}},
      {"mlp", {"Dense"}},
      {"model", {"Sequential"}},
  };
  return names;
}

// Each means one argument.
const OtherNames& OtherLayerArguments() {
  static const OtherNames names = {
      {"p", {"rate"}},
      {"prob", {"rate"}},
      {"dropout", {"rate"}},
      {"outfeatures", {"units"}},
      {"size", {"units"}},
      {"nodes", {"units"}},
      {"neurons", {"units"}},
      {"numunits", {"units"}},
      {"nunits", {"units"}},
      {"hidden", {"units"}},
      {"outchannels", {"filters"}},
      {"channels", {"filters"}},
      {"kernel", {"kernel_size"}},
      {"stride", {"strides"}},
      {"dilation", {"dilation_rate"}},
      {"pool", {"pool_size"}},
      {"bias", {"use_bias"}},
      {"eps", {"epsilon"}},
      {"act", {"activation"}},
      {"nonlinearity", {"activation"}},
      {"init", {"kernel_initializer"}},
      {"initializer", {"kernel_initializer"}},
      {"regularizer", {"kernel_regularizer"}},
      {"dim", {"axis"}},
      {"shape", {"target_shape"}},
  };
  return names;
}

const OtherNames& OtherActivationNames() {
  static const OtherNames names = {
      {"logistic", {"sigmoid"}}, {"identity", {"linear"}},  {"none", {"linear"}},
      {"rectifier", {"relu"}},   {"lrelu", {"leaky_relu"}},
  };
  return names;
}

const OtherNames& OtherInitializerNames() {
  static const OtherNames names = {
      {"xavier", {"glorot_uniform"}},        {"xavieruniform", {"glorot_uniform"}},
      {"xaviernormal", {"glorot_normal"}},   {"glorot", {"glorot_uniform"}},
      {"kaiming", {"he_uniform"}},           {"kaiminguniform", {"he_uniform"}},
      {"kaimingnormal", {"he_normal"}},      {"he", {"he_normal"}},
      {"lecun", {"lecun_normal"}},           {"gaussian", {"random_normal"}},
      {"truncnormal", {"truncated_normal"}}, {"eye", {"identity"}},
  };
  return names;
}

}  // namespace hopper
