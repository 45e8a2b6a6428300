// The table of functions that need libtorch: thin, and with no way out for an exception.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capi/boundary.h"
#include "capi/rows.h"
#include "capi/torch_api_structs.h"
#include "engine/build_info.h"
#include "engine/cuda_devices.h"
#include "engine/evaluation.h"
#include "engine/explain.h"
#include "engine/failure.h"
#include "engine/group.h"
#include "engine/predictor.h"
#include "engine/run.h"
#include "model_hopper/torch.h"
#include "params/precision.h"
#include "train/trainer.h"

// The handles of the C side.
struct hopper_run : hopper::Run {
  using Run::Run;
};
struct hopper_evaluation : hopper::Evaluation {
  using Evaluation::Evaluation;
};
struct hopper_predictor : hopper::Predictor {
  using Predictor::Predictor;
};
struct hopper_group : hopper::Group {
  using Group::Group;
  // What the latest part points at.
  std::vector<hopper_event> events;
  std::vector<hopper_visit> visits;
  hopper_model_result result = {};
};
struct hopper_explain : hopper::Explain {
  using Explain::Explain;
};

namespace {

using hopper::DescribeException;
using hopper::Error;
using hopper::ErrorCode;
using hopper::FromC;
using hopper::Guard;
using hopper::ToC;

template <typename... Pointers>
void RequireAll(const Pointers*... pointers) {
  if (((pointers == nullptr) || ...)) {
    throw Error(ErrorCode::kInternal, "a required argument is missing");
  }
}

// Functions that fail with a code.
template <typename Body>
int Call(hopper_error* error, const Body& body) {
  return Guard(error, body, DescribeException);
}

// Functions that answer 1 (yes), 0 (not yet) or -1 (*error).
template <typename Body>
int Ask(hopper_error* error, const Body& body) {
  bool answer = false;
  const int code = Call(error, [&] { answer = body(); });
  return code != HOPPER_OK ? -1 : static_cast<int>(answer);
}

// None: there is no such table.
std::optional<hopper::DataDesc> DescOf(const hopper_data_desc* data) {
  if (data == nullptr) return std::nullopt;
  return hopper::DataDesc(*data);
}

template <typename T>
const T* PointerTo(const std::optional<T>& value) {
  return value.has_value() ? &*value : nullptr;
}

// The segment of each partition; none for a run of one process.
std::vector<int32_t> KeysOf(const int32_t* keys, const std::optional<hopper::DataDesc>& data) {
  if (keys == nullptr || !data.has_value()) return {};
  return {keys, keys + data->n_partitions};
}

// ---------------------------------------------------------------- training

int RunCreate(const hopper_run_options* options, const hopper_data_desc* train,
              const hopper_data_desc* valid, hopper_run** run, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(options, train, run);
    *run = new hopper_run(FromC(*options), hopper::DataDesc(*train), PointerTo(DescOf(valid)));
  });
}

int RunAddConfig(hopper_run* run, const hopper_config* config, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, config);
    run->AddConfig(FromC(*config));
  });
}

int RunAddBuffer(hopper_run* run, const hopper_buffer* buffer, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, buffer);
    run->AddBuffer(*buffer);
  });
}

int RunStart(hopper_run* run, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run);
    run->Start();
  });
}

int RunStayOpen(hopper_run* run, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run);
    run->StayOpen();
  });
}

int RunGoOn(hopper_run* run, const hopper_leg* leg, int32_t* must_take, int32_t* take,
            hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, leg, must_take, take);
    *must_take = run->GoOn(FromC(*leg), take) ? 0 : 1;
  });
}

int RunClose(hopper_run* run, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run);
    run->Close();
  });
}

int RunNextEvent(hopper_run* run, hopper_event* event) {
  bool any = false;
  Call(nullptr, [&] {
    RequireAll(run, event);
    hopper::Event next;
    any = run->NextEvent(&next);
    if (any) ToC(next, event);
  });
  return any ? 1 : 0;
}

int RunPlanData(hopper_run* run, hopper_data_plan* plan, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, plan);
    hopper::DataPlan made;
    run->PlanData(&made);
    ToC(made, plan);
  });
}

int RunEndLoad(hopper_run* run, int32_t split, int32_t partition, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run);
    run->EndLoad(split, partition);
  });
}

int32_t RunNextVisits(hopper_run* run, hopper_visit* visits, int32_t n) {
  int32_t taken = 0;
  Call(nullptr, [&] {
    RequireAll(run, visits);
    for (const hopper::VisitRecord& visit : run->NextVisits(static_cast<size_t>(std::max(n, 0)))) {
      ToC(visit, &visits[taken++]);
    }
  });
  return taken;
}

void RunCancel(hopper_run* run) {
  Call(nullptr, [&] {
    RequireAll(run);
    run->Cancel();
  });
}

int RunResult(hopper_run* run, int32_t mst_key, hopper_model_result* result, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, result);
    ToC(run->Result(mst_key), result);
  });
}

int RunWantedState(hopper_run* run, int32_t* mst_key) {
  bool any = false;
  Call(nullptr, [&] {
    RequireAll(run, mst_key);
    any = run->WantedState(mst_key);
  });
  return any ? 1 : 0;
}

int RunAddState(hopper_run* run, int32_t mst_key, const uint8_t* bytes, size_t size,
                hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, bytes);
    run->AddState(mst_key, bytes, size);
  });
}

int RunTakeState(hopper_run* run, int32_t mst_key, uint8_t* bytes, size_t size, size_t* taken,
                 hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, bytes, taken);
    *taken = run->TakeState(mst_key, bytes, size);
  });
}

int RunTakeWeights(hopper_run* run, int32_t mst_key, float* weights, int64_t n,
                   hopper_error* error) {
  return Call(error, [&] {
    RequireAll(run, weights);
    run->TakeWeights(mst_key, weights, n);
  });
}

void RunGetInfo(hopper_run* run, hopper_run_info* info) {
  Call(nullptr, [&] {
    RequireAll(run, info);
    hopper::RunInfo told;
    run->GetInfo(&told);
    ToC(told, info);
  });
}

void RunFree(hopper_run* run) {
  Call(nullptr, [&] { delete run; });
}

// ---------------------------------------------------------------- evaluation

int EvaluationCreate(const hopper_config* config, const hopper_data_desc* data, int32_t threads,
                     int32_t event_fd, hopper_evaluation** evaluation, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(config, data, evaluation);
    *evaluation = new hopper_evaluation(FromC(*config), hopper::DataDesc(*data), threads, event_fd);
  });
}

int EvaluationAddBuffer(hopper_evaluation* evaluation, const hopper_buffer* buffer,
                        hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation, buffer);
    evaluation->AddBuffer(*buffer);
  });
}

int EvaluationStart(hopper_evaluation* evaluation, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation);
    evaluation->Start();
  });
}

int EvaluationPoll(hopper_evaluation* evaluation, hopper_event* event, hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(evaluation, event);
    hopper::Event values;
    if (!evaluation->Poll(&values)) return false;
    ToC(values, event);
    return true;
  });
}

int EvaluationLimit(hopper_evaluation* evaluation, int64_t memory_limit, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation);
    evaluation->Limit(memory_limit);
  });
}

int EvaluationRoom(hopper_evaluation* evaluation, int32_t partition, hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(evaluation);
    return evaluation->Room(partition);
  });
}

int EvaluationConfusion(hopper_evaluation* evaluation, const int64_t** counts, int32_t* n_classes,
                        hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation, counts, n_classes);
    *counts = evaluation->Confusion(n_classes);
  });
}

int EvaluationChoose(hopper_evaluation* evaluation, const int32_t* partitions, int32_t n,
                     hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation, partitions);
    evaluation->Choose(std::vector<int32_t>(partitions, partitions + n));
  });
}

int EvaluationSums(hopper_evaluation* evaluation, const uint8_t** bytes, size_t* size,
                   hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(evaluation, bytes, size);
    return evaluation->Sums(bytes, size);
  });
}

int EvaluationTotal(hopper_evaluation* evaluation, const uint8_t* bytes, size_t size,
                    hopper_event* event, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(evaluation, bytes, event);
    hopper::Event values;
    evaluation->Total(bytes, size, &values);
    ToC(values, event);
  });
}

void EvaluationFree(hopper_evaluation* evaluation) {
  Call(nullptr, [&] { delete evaluation; });
}

// ---------------------------------------------------------------- prediction

int PredictorCreate(const char* model_arch, size_t model_arch_size, const float* weights,
                    int64_t n_weights, const hopper_data_desc* data, const char* layer,
                    int32_t threads, int64_t memory_limit, int32_t event_fd,
                    hopper_predictor** predictor, int32_t* n_outputs, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(model_arch, data, predictor);
    *predictor =
        new hopper_predictor(std::string_view(model_arch, model_arch_size), weights, n_weights,
                             hopper::DataDesc(*data), threads, memory_limit, event_fd, layer);
    if (n_outputs != nullptr) *n_outputs = (*predictor)->n_outputs();
  });
}

int PredictorPlan(hopper_predictor* predictor, hopper_prediction_plan* plan, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(predictor, plan);
    hopper::PredictionPlan made = FromC(*plan);
    predictor->Plan(&made);
    ToC(made, plan);
  });
}

int PredictorExpire(hopper_predictor* predictor, double seconds, int64_t* counter, int64_t bytes,
                    hopper_error* error) {
  return Call(error, [&] {
    RequireAll(predictor);
    predictor->ExpireAfter(seconds, counter, bytes);
  });
}

int PredictorTouch(hopper_predictor* predictor) { return static_cast<int>(predictor->Touch()); }

int PredictorSubmit(hopper_predictor* predictor, const void* x, size_t x_size, int32_t n,
                    hopper_error* error) {
  return Call(error, [&] {
    RequireAll(predictor);
    predictor->Submit(x, x_size, n);
  });
}

int PredictorTake(hopper_predictor* predictor, const float** outputs, int32_t* n,
                  hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(predictor, outputs, n);
    return predictor->Take(outputs, n);
  });
}

void PredictorFree(hopper_predictor* predictor) {
  Call(nullptr, [&] { delete predictor; });
}

// ---------------------------------------------------------------- about

int BuildInfo(hopper_rows** rows, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(rows);
    auto table = std::make_unique<hopper::Rows>(2);
    for (const auto& [name, value] : hopper::BuildInfo()) table->Add({name, value});
    *rows = hopper::Rows::Release(std::move(table));
  });
}

int Gpus(hopper_rows** rows, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(rows);
    auto table = std::make_unique<hopper::Rows>(4);
    for (const hopper::CudaDevice& device : hopper::ListCudaDevices().devices) {
      table->Add({std::to_string(device.index), device.name, std::to_string(device.memory >> 20),
                  device.capability});
    }
    *rows = hopper::Rows::Release(std::move(table));
  });
}

// ---------------------------------------------------------------- training in several processes

int GroupCreate(const hopper_run_options* options, const hopper_data_desc* train,
                const hopper_data_desc* valid, const int32_t* train_keys, const int32_t* valid_keys,
                int32_t key, hopper_group** group, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(options, train, train_keys, group);
    if (valid != nullptr) RequireAll(valid_keys);
    const auto train_desc = DescOf(train);
    const auto valid_desc = DescOf(valid);
    *group = new hopper_group(FromC(*options), *train_desc, PointerTo(valid_desc),
                              KeysOf(train_keys, train_desc), KeysOf(valid_keys, valid_desc), key);
  });
}

int GroupAddConfig(hopper_group* group, const hopper_config* config, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group, config);
    group->AddConfig(FromC(*config));
  });
}

int GroupEnter(hopper_group* group, const hopper_config* config, int32_t iterations,
               hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group, config);
    group->Enter(FromC(*config), iterations);
  });
}

int GroupKeep(hopper_group* group, const int32_t* mst_keys, int32_t n, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group);
    group->KeepOnly(n > 0 ? std::vector<int32_t>(mst_keys, mst_keys + n) : std::vector<int32_t>());
  });
}

int GroupAddBuffer(hopper_group* group, const hopper_buffer* buffer, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group, buffer);
    group->AddBuffer(*buffer);
  });
}

int GroupCheckData(hopper_group* group, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group);
    group->CheckData();
  });
}

int GroupPlanData(hopper_group* group, hopper_data_plan* plan, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group, plan);
    hopper::DataPlan made;
    group->PlanData(&made);
    ToC(made, plan);
  });
}

int GroupNextLoad(hopper_group* group, int32_t* split, int32_t* partition) {
  return Ask(nullptr, [&] {
    RequireAll(group, split, partition);
    return group->NextLoad(split, partition);
  });
}

int GroupEndLoad(hopper_group* group, int32_t split, int32_t partition, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group);
    group->EndLoad(split, partition);
  });
}

int GroupAddPart(hopper_group* group, int32_t mst_key, int32_t part, int32_t n_parts,
                 const uint8_t* bytes, size_t size, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group, bytes);
    group->AddPart(mst_key, part, n_parts, bytes, size);
  });
}

int GroupStart(hopper_group* group, int32_t iteration, int32_t fresh, int32_t finish,
               hopper_error* error) {
  return Call(error, [&] {
    RequireAll(group);
    group->Start(iteration, fresh != 0, finish != 0);
  });
}

int GroupPoll(hopper_group* group, hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(group);
    return group->Poll();
  });
}

template <typename From, typename To>
void ListToC(const std::vector<From>* from, std::vector<To>* to) {
  to->resize(from == nullptr ? 0 : from->size());
  for (size_t i = 0; i < to->size(); ++i) ToC((*from)[i], &(*to)[i]);
}

int GroupNextPart(hopper_group* group, hopper_group_part* part, hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(group, part);
    hopper::GroupPart next;
    if (!group->NextPart(&next)) return false;
    ListToC(next.events, &group->events);
    ListToC(next.visits, &group->visits);
    *part = hopper_group_part{};
    part->mst_key = next.mst_key;
    part->next_key = next.next_key;
    part->part = next.part;
    part->n_parts = next.n_parts;
    part->done = next.done ? 1 : 0;
    part->bytes = next.bytes;
    part->size = next.size;
    part->n_events = static_cast<int32_t>(group->events.size());
    part->events = group->events.data();
    part->n_visits = static_cast<int32_t>(group->visits.size());
    part->visits = group->visits.data();
    if (next.result != nullptr) {
      ToC(*next.result, &group->result);
      part->result = &group->result;
    }
    return true;
  });
}

void GroupFree(hopper_group* group) {
  Call(nullptr, [&] { delete group; });
}

void GroupGetInfo(const hopper_group* group, hopper_run_info* info) {
  Call(nullptr, [&] {
    RequireAll(group, info);
    hopper::RunInfo told;
    group->GetInfo(&told);
    ToC(told, info);
  });
}

int CheckPrecision(const char* precision, int32_t on_gpu, int32_t* emulated, double* gain,
                   hopper_error* error) {
  return Call(error, [&] {
    RequireAll(precision, emulated, gain);
    const hopper::Precision parsed = hopper::ParsePrecision(precision, on_gpu != 0);
    *emulated = on_gpu == 0 && hopper::IsEmulated(parsed) ? 1 : 0;
    *gain = on_gpu == 0 ? hopper::Gain(parsed) : 1.0;
  });
}

// ---------------------------------------------------------------- forecasts

int ExplainCreate(const hopper_run_options* options, const hopper_data_desc* train,
                  const hopper_data_desc* valid, const int32_t* train_keys,
                  const int32_t* valid_keys, const hopper_explain_costs* costs,
                  hopper_explain** explain, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(options, train, costs, explain);
    const auto train_desc = DescOf(train);
    const auto valid_desc = DescOf(valid);
    *explain = new hopper_explain(FromC(*options), *train_desc, PointerTo(valid_desc),
                                  KeysOf(train_keys, train_desc), KeysOf(valid_keys, valid_desc),
                                  FromC(*costs));
  });
}

int ExplainAddConfig(hopper_explain* explain, const hopper_config* config, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(explain, config);
    explain->AddConfig(FromC(*config));
  });
}

int ExplainStart(hopper_explain* explain, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(explain);
    explain->Start();
  });
}

int ExplainPoll(hopper_explain* explain, hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(explain);
    return explain->Poll();
  });
}

int ExplainModel(hopper_explain* explain, int32_t index, hopper_explain_model* model,
                 hopper_error* error) {
  return Call(error, [&] {
    RequireAll(explain, model);
    ToC(explain->Model(index), model);
  });
}

int ExplainRun(hopper_explain* explain, hopper_explain_run* run, hopper_error* error) {
  return Call(error, [&] {
    RequireAll(explain, run);
    ToC(explain->Run(), run);
  });
}

void ExplainFree(hopper_explain* explain) {
  Call(nullptr, [&] { delete explain; });
}

hopper_torch_api MakeApi() {
  hopper_torch_api api = {};
  api.version = HOPPER_API_VERSION;
  api.size = static_cast<int32_t>(sizeof(hopper_torch_api));
  api.rows_free = hopper::Rows::Free;
  api.build_info = BuildInfo;
  api.gpus = Gpus;
  api.check_precision = CheckPrecision;
  api.run.create = RunCreate;
  api.run.add_config = RunAddConfig;
  api.run.add_buffer = RunAddBuffer;
  api.run.start = RunStart;
  api.run.stay_open = RunStayOpen;
  api.run.go_on = RunGoOn;
  api.run.close = RunClose;
  api.run.next_event = RunNextEvent;
  api.run.cancel = RunCancel;
  api.run.result = RunResult;
  api.run.get_info = RunGetInfo;
  api.run.free = RunFree;
  api.run.plan_data = RunPlanData;
  api.run.end_load = RunEndLoad;
  api.run.next_visits = RunNextVisits;
  api.run.wanted_state = RunWantedState;
  api.run.add_state = RunAddState;
  api.run.take_state = RunTakeState;
  api.run.take_weights = RunTakeWeights;
  api.group.create = GroupCreate;
  api.group.add_config = GroupAddConfig;
  api.group.add_buffer = GroupAddBuffer;
  api.group.check_data = GroupCheckData;
  api.group.add_part = GroupAddPart;
  api.group.start = GroupStart;
  api.group.poll = GroupPoll;
  api.group.next_part = GroupNextPart;
  api.group.free = GroupFree;
  api.group.enter = GroupEnter;
  api.group.keep = GroupKeep;
  api.group.get_info = GroupGetInfo;
  api.group.plan_data = GroupPlanData;
  api.group.next_load = GroupNextLoad;
  api.group.end_load = GroupEndLoad;
  api.evaluation.create = EvaluationCreate;
  api.evaluation.add_buffer = EvaluationAddBuffer;
  api.evaluation.start = EvaluationStart;
  api.evaluation.poll = EvaluationPoll;
  api.evaluation.free = EvaluationFree;
  api.evaluation.limit = EvaluationLimit;
  api.evaluation.room = EvaluationRoom;
  api.evaluation.confusion = EvaluationConfusion;
  api.evaluation.choose = EvaluationChoose;
  api.evaluation.sums = EvaluationSums;
  api.evaluation.total = EvaluationTotal;
  api.predictor.create = PredictorCreate;
  api.predictor.plan = PredictorPlan;
  api.predictor.expire = PredictorExpire;
  api.predictor.touch = PredictorTouch;
  api.predictor.submit = PredictorSubmit;
  api.predictor.take = PredictorTake;
  api.predictor.free = PredictorFree;
  api.explain.create = ExplainCreate;
  api.explain.add_config = ExplainAddConfig;
  api.explain.start = ExplainStart;
  api.explain.poll = ExplainPoll;
  api.explain.model = ExplainModel;
  api.explain.run = ExplainRun;
  api.explain.free = ExplainFree;
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const hopper_torch_api* hopper_torch_api_get(
    int32_t version) {
  static const hopper_torch_api api = MakeApi();
  return version == HOPPER_API_VERSION ? &api : nullptr;
}
