#include "search/algorithms/halving.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/cancel.h"

namespace hopper {

HalvingBracket::HalvingBracket(int number, uint64_t draw, std::vector<Rung> rungs, int64_t eta)
    : number_(number), draw_(draw), rungs_(std::move(rungs)), eta_(eta) {}

std::optional<SearchWork> HalvingBracket::Next(SearchJournal* journal, SearchProposer* proposer) {
  while (!done()) {
    const int64_t resource = rungs_[rung_].resource;
    open_.erase(std::remove_if(open_.begin(), open_.end(),
                               [&](int64_t member) {
                                 const Trial& trial = journal->trial(member);
                                 return trial.ResultAt(resource) != nullptr ||
                                        (!trial.running && !trial.GoesOn());
                               }),
                open_.end());
    // One that runs is this bracket's, or another's that shares it and is looked at later.
    for (const int64_t member : open_) {
      if (!journal->trial(member).running) return SearchWork{member, resource};
    }
    while (next_ < members_.size()) {
      const Trial& trial = journal->trial(members_[next_++]);
      if (trial.ResultAt(resource) != nullptr || !trial.GoesOn()) continue;
      open_.push_back(trial.id);
      if (!trial.running) return SearchWork{trial.id, resource};
    }
    if (!recruited_) {
      recruited_ = !Recruit(journal, proposer);
      continue;
    }
    if (!open_.empty()) return {};
    Promote(journal);
  }
  return {};
}

// One more member of the first rung; false where the rung is full, or nothing is left to try.
bool HalvingBracket::Recruit(SearchJournal* journal, SearchProposer* proposer) {
  const Rung& rung = rungs_.front();
  if (static_cast<int64_t>(members_.size()) >= rung.configs) return false;
  if (const auto trial = journal->Propose(proposer, number_, 0, rung.resource)) {
    members_.push_back(*trial);
    return true;
  }
  return Reuse(journal);
}

// A trial of another bracket, which goes on from where it is: a small space has no new ones.
bool HalvingBracket::Reuse(SearchJournal* journal) {
  LookAtCancel();
  std::vector<bool> is_member(journal->trials().size(), false);
  for (const int64_t member : members_) is_member[static_cast<size_t>(member)] = true;
  std::vector<int64_t> others;
  for (const Trial& trial : journal->trials()) {
    if (!trial.earlier && trial.GoesOn() && !is_member[static_cast<size_t>(trial.id)]) {
      others.push_back(trial.id);
    }
  }
  if (others.empty()) return false;
  const Philox random = journal->Random(kReuseStream, draw_);
  members_.push_back(others[random.Below(members_.size(), others.size())]);
  Decision decision;
  decision.kind = DecisionKind::kReused;
  decision.trial = members_.back();
  decision.bracket = number_;
  decision.rung = 0;
  decision.resource = rungs_.front().resource;
  decision.reason = "another bracket proposed it; it goes on from where it is";
  journal->Note(std::move(decision));
  return true;
}

void HalvingBracket::Promote(SearchJournal* journal) {
  const int64_t resource = rungs_[rung_].resource;
  std::vector<int64_t> ranked;
  int64_t failed = 0;
  for (const int64_t member : members_) {
    const Trial& trial = journal->trial(member);
    if (trial.GoesOn()) ranked.push_back(member);
    failed += trial.failed() ? 1 : 0;
  }
  const auto standing = [&](int64_t trial) {
    return journal->trial(trial).ResultAt(resource)->standing;
  };
  std::sort(ranked.begin(), ranked.end(), [&](int64_t a, int64_t b) {
    if (standing(a) < standing(b)) return true;
    return !(standing(b) < standing(a)) && a < b;
  });
  const size_t of = members_.size();
  members_.clear();
  const bool last = rung_ + 1 == rungs_.size();
  size_t stay = 0;
  if (!last) stay = std::min(ranked.size(), std::max<size_t>(1, of / static_cast<size_t>(eta_)));
  RungEnd end;
  end.bracket = number_;
  end.rung = rung();
  end.resource = resource;
  end.configs = static_cast<int64_t>(of);
  end.failed = failed;
  if (!ranked.empty()) end.best = ranked.front();
  for (size_t place = 0; place < ranked.size(); ++place) {
    const std::string reason = "place " + std::to_string(place + 1) + " of " + std::to_string(of) +
                               (last ? "" : ", the best " + std::to_string(stay) + " go on");
    const bool pinned = place >= stay && journal->trial(ranked[place]).pinned;
    if (!last && place >= stay && !pinned) {
      journal->Stop(ranked[place], number_, rung(), reason);
      continue;
    }
    Decision decision;
    decision.kind = last ? DecisionKind::kCompleted : DecisionKind::kPromoted;
    decision.trial = ranked[place];
    decision.bracket = number_;
    decision.rung = last ? rung() : rung() + 1;
    decision.resource = last ? resource : rungs_[rung_ + 1].resource;
    decision.reason = reason + (!last && pinned ? ", and this one is pinned" : "");
    journal->Note(std::move(decision));
    if (!last) members_.push_back(ranked[place]);
  }
  end.go_on = static_cast<int64_t>(members_.size());
  if (of > 0) journal->EndRung(end);
  std::sort(members_.begin(), members_.end());
  next_ = 0;
  ++rung_;
  if (members_.empty()) rung_ = rungs_.size();
}

}  // namespace hopper
