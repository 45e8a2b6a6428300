// The table of groups: training in several processes.
#include <vector>

#include "capi/arguments.h"
#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "engine/segments/group.h"
#include "model_hopper/group.h"

struct hopper_group : hopper::Group {
  using Group::Group;
  // What the latest part points at.
  std::vector<hopper_event> events;
  std::vector<hopper_visit> visits;
  hopper_model_result result = {};
};

namespace hopper {
namespace {

static_assert(static_cast<char>(NewEnvelope::kInitial) == HOPPER_ENVELOPE_NEW);
static_assert(static_cast<char>(NewEnvelope::kWeights) == HOPPER_ENVELOPE_WEIGHTS);
static_assert(static_cast<char>(NewEnvelope::kState) == HOPPER_ENVELOPE_STATE);

int GroupStayOpen(hopper_group* group, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group);
    group->StayOpen();
  });
}

int GroupEnter(hopper_group* group, const hopper_config* config, int32_t iterations, int32_t done,
               hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group, config);
    group->Enter(FromC(*config), iterations, done);
  });
}

int GroupKeep(hopper_group* group, const int32_t* mst_keys, int32_t n, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group);
    group->KeepOnly(n > 0 ? std::vector<int32_t>(mst_keys, mst_keys + n) : std::vector<int32_t>());
  });
}

int GroupAddBuffer(hopper_group* group, const hopper_buffer* buffer, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group, buffer);
    group->AddBuffer(FromC(*buffer));
  });
}

int GroupCheckData(hopper_group* group, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group);
    group->CheckData();
  });
}

int GroupPlanData(hopper_group* group, hopper_data_plan* plan, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group, plan);
    DataPlan made;
    group->PlanData(&made);
    ToC(made, plan);
  });
}

int GroupNextLoad(hopper_group* group, int32_t* split, int32_t* partition) {
  return AskOf(group, nullptr, [&] {
    RequireAll(group, split, partition);
    return group->NextLoad(split, partition);
  });
}

int GroupEndLoad(hopper_group* group, int32_t split, int32_t partition, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group);
    group->EndLoad(split, partition);
  });
}

int GroupAddPart(hopper_group* group, int32_t mst_key, int32_t part, int32_t n_parts,
                 const uint8_t* bytes, size_t size, int32_t* later, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group, bytes, later);
    *later = group->AddPart(mst_key, part, n_parts, bytes, size) ? 0 : 1;
  });
}

int GroupNextArrival(hopper_group* group, int32_t* mst_key) {
  return AskOf(group, nullptr, [&] {
    RequireAll(group, mst_key);
    return group->NextArrival(mst_key);
  });
}

int GroupStart(hopper_group* group, int32_t halts, int32_t milliseconds, hopper_error* error) {
  return Call(group, error, [&] {
    RequireAll(group);
    group->Start(halts != 0, milliseconds / 1000.0);
  });
}

int GroupPoll(hopper_group* group, hopper_error* error) {
  return AskOf(group, error, [&] {
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
  return AskOf(group, error, [&] {
    RequireAll(group, part);
    GroupPart next;
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
  Guard(nullptr, [&] { delete group; });
}

void GroupGetInfo(const hopper_group* group, hopper_run_info* info) {
  Call(group, nullptr, [&] {
    RequireAll(group, info);
    RunInfo told;
    group->GetInfo(&told);
    ToC(told, info);
  });
}

}  // namespace

int CreateGroup(const TrainingBackend& backend, const hopper_run_options* options,
                const hopper_data_desc* train, const hopper_data_desc* valid,
                const int32_t* train_keys, const int32_t* valid_keys, int32_t key,
                hopper_group** group, hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(options, train, train_keys, group);
        if (valid != nullptr) RequireAll(valid_keys);
        const auto train_desc = CheckedFromC(train);
        const auto valid_desc = CheckedFromC(valid);
        *group =
            new hopper_group(backend, FromC(*options), *train_desc, PointerTo(valid_desc),
                             KeysOf(train_keys, train_desc), KeysOf(valid_keys, valid_desc), key);
      },
      By(backend));
}

void SetGroupFunctions(hopper_group_api* api) {
  api->stay_open = GroupStayOpen;
  api->add_buffer = GroupAddBuffer;
  api->check_data = GroupCheckData;
  api->add_part = GroupAddPart;
  api->next_arrival = GroupNextArrival;
  api->start = GroupStart;
  api->poll = GroupPoll;
  api->next_part = GroupNextPart;
  api->free = GroupFree;
  api->enter = GroupEnter;
  api->keep = GroupKeep;
  api->get_info = GroupGetInfo;
  api->plan_data = GroupPlanData;
  api->next_load = GroupNextLoad;
  api->end_load = GroupEndLoad;
}

}  // namespace hopper
