// The table of runs: training in one process.
#include <algorithm>
#include <vector>

#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "engine/local/run.h"
#include "model_hopper/run.h"

struct hopper_run : hopper::Run {
  using Run::Run;
};

namespace hopper {
namespace {

int RunAddConfig(hopper_run* run, const hopper_config* config, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, config);
    run->AddConfig(FromC(*config));
  });
}

int RunAddBuffer(hopper_run* run, const hopper_buffer* buffer, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, buffer);
    run->AddBuffer(FromC(*buffer));
  });
}

int RunStart(hopper_run* run, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->Start();
  });
}

int RunTakeTurns(hopper_run* run, const hopper_run* with, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, with);
    run->TakeTurnsWith(*with);
  });
}

int RunStayOpen(hopper_run* run, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->StayOpen();
  });
}

int RunGoOn(hopper_run* run, const hopper_stint* stint, int32_t* must_take, int32_t* take,
            hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, stint, must_take, take);
    *must_take = run->GoOn(FromC(*stint), take) ? 0 : 1;
  });
}

int RunClose(hopper_run* run, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->Close();
  });
}

int RunHaltForCheckpoints(hopper_run* run, int32_t all, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->HaltForCheckpoints(all != 0);
  });
}

int RunHaltEach(hopper_run* run, int32_t each, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->HaltEach(each != 0);
  });
}

int RunEndIterations(hopper_run* run, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->EndIterations();
  });
}

int RunCopyState(hopper_run* run, int32_t mst_key, uint8_t* bytes, size_t size, size_t* taken,
                 hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, bytes, taken);
    *taken = run->CopyState(mst_key, bytes, size);
  });
}

int RunCopyWeights(hopper_run* run, int32_t mst_key, float* weights, int64_t n,
                   hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, weights);
    run->CopyWeights(mst_key, weights, n);
  });
}

int RunSetIterations(hopper_run* run, int32_t mst_key, int32_t more, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->SetIterations(mst_key, more);
  });
}

int RunRelease(hopper_run* run, int32_t mst_key, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->Release(mst_key);
  });
}

int RunNextEvent(hopper_run* run, hopper_event* event) {
  bool any = false;
  Call(run, nullptr, [&] {
    RequireAll(run, event);
    Event next;
    any = run->NextEvent(&next);
    if (any) ToC(next, event);
  });
  return any ? 1 : 0;
}

int RunPlanData(hopper_run* run, hopper_data_plan* plan, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, plan);
    DataPlan made;
    run->PlanData(&made);
    ToC(made, plan);
  });
}

int RunEndLoad(hopper_run* run, int32_t split, int32_t partition, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run);
    run->EndLoad(split, partition);
  });
}

int32_t RunNextVisits(hopper_run* run, hopper_visit* visits, int32_t n) {
  int32_t taken = 0;
  Call(run, nullptr, [&] {
    RequireAll(run, visits);
    for (const VisitRecord& visit : run->NextVisits(static_cast<size_t>(std::max(n, 0)))) {
      ToC(visit, &visits[taken++]);
    }
  });
  return taken;
}

void RunCancel(hopper_run* run) {
  Call(run, nullptr, [&] {
    RequireAll(run);
    run->Cancel();
  });
}

int RunResult(hopper_run* run, int32_t mst_key, hopper_model_result* result, hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, result);
    ToC(run->Result(mst_key), result);
  });
}

int RunWantedState(hopper_run* run, int32_t* mst_key) {
  bool any = false;
  Call(run, nullptr, [&] {
    RequireAll(run, mst_key);
    any = run->WantedState(mst_key);
  });
  return any ? 1 : 0;
}

int RunAddState(hopper_run* run, int32_t mst_key, const uint8_t* bytes, size_t size,
                hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, bytes);
    run->AddState(mst_key, bytes, size);
  });
}

int RunTakeState(hopper_run* run, int32_t mst_key, uint8_t* bytes, size_t size, size_t* taken,
                 hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, bytes, taken);
    *taken = run->TakeState(mst_key, bytes, size);
  });
}

int RunTakeWeights(hopper_run* run, int32_t mst_key, float* weights, int64_t n,
                   hopper_error* error) {
  return Call(run, error, [&] {
    RequireAll(run, weights);
    run->TakeWeights(mst_key, weights, n);
  });
}

void RunGetInfo(hopper_run* run, hopper_run_info* info) {
  Call(run, nullptr, [&] {
    RequireAll(run, info);
    RunInfo told;
    run->GetInfo(&told);
    ToC(told, info);
  });
}

void RunFree(void* run) {
  Guard(nullptr, [&] { delete static_cast<hopper_run*>(run); });
}

}  // namespace

int CreateRun(const TrainingBackend& backend, const hopper_run_options* options,
              const hopper_data_desc* train, const hopper_data_desc* valid, hopper_run** run,
              hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(options, train, run);
        *run = new hopper_run(backend, FromC(*options), CheckedFromC(*train),
                              PointerTo(CheckedFromC(valid)));
      },
      By(backend));
}

void SetRunFunctions(hopper_run_api* api) {
  api->add_config = RunAddConfig;
  api->add_buffer = RunAddBuffer;
  api->start = RunStart;
  api->take_turns = RunTakeTurns;
  api->stay_open = RunStayOpen;
  api->go_on = RunGoOn;
  api->close = RunClose;
  api->halt_for_checkpoints = RunHaltForCheckpoints;
  api->halt_each = RunHaltEach;
  api->end_iterations = RunEndIterations;
  api->copy_state = RunCopyState;
  api->copy_weights = RunCopyWeights;
  api->set_iterations = RunSetIterations;
  api->release = RunRelease;
  api->next_event = RunNextEvent;
  api->cancel = RunCancel;
  api->result = RunResult;
  api->get_info = RunGetInfo;
  api->free = RunFree;
  api->plan_data = RunPlanData;
  api->end_load = RunEndLoad;
  api->next_visits = RunNextVisits;
  api->wanted_state = RunWantedState;
  api->add_state = RunAddState;
  api->take_state = RunTakeState;
  api->take_weights = RunTakeWeights;
}

}  // namespace hopper
