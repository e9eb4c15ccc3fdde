import type { Call } from '../api/call.ts';
import { jsonReply, type Reply } from '../api/reply.ts';
import { isJson, type Json } from '../json.ts';
import { alertReply } from './alert-reply.ts';
import { documentedChanges, documentedIssues } from './documented-update.ts';
import { TRAITS, type Traits } from './profiles.ts';
import { idOf } from './reading.ts';
import { channelsOf, referenceProblem } from './references.ts';
import { refuse, refuseIssues, refuseUnknownAlert } from './replies.ts';
import { type AlertRecord, type AlertsState, updated } from './state.ts';
import { updateIssues } from './update-rules.ts';

/** Validates the body before it looks up the alert, as the real server does. */
export function updateAlert(state: AlertsState, call: Call): Reply {
  const id = idOf(state, call);
  const value = call.body.kind === 'none' ? {} : call.body.kind === 'json' && call.body.value;
  if (!isJson(value)) return refuse(400, 'Invalid JSON payload');

  const stored = state.alerts.get(id);
  const traits = TRAITS[state.profile];
  const isDocumented = traits.values === 'contract';
  const issuesOf = isDocumented ? documentedIssues : updateIssues;
  refuseIssues(state, 'Body', issuesOf(value, traits, stored));
  if (stored === undefined) return refuseUnknownAlert(state);
  const missing = traits.references === 'checked' ? referenceProblem(state, value) : null;
  if (missing !== null) return refuse(400, missing);

  const changesOf = isDocumented ? documentedChanges : serverChanges;
  const after = updated(stored, changesOf(stored, value, traits), state.now());
  state.alerts.set(id, after);
  state.effects.record(call, id, state.now());
  return jsonReply(200, { data: alertReply(state, after) });
}

type Changes = Partial<AlertRecord>;

// The rules have checked the type of each field.
function serverChanges(stored: AlertRecord, body: Json, traits: Traits): Changes {
  const sent = body as Changes;
  return {
    ...(body.threshold === undefined ? {} : { threshold: Number(body.threshold) }),
    thresholdType: String(body.thresholdType),
    interval: String(body.interval),
    name: sent.name ?? null,
    message: sent.message ?? null,
    channels: channelsAfter(stored, body, traits),
    ...sourceChanges(stored, sent, traits),
    ...(traits.extended ? extendedChanges(stored, sent) : {}),
  };
}

function sourceChanges(stored: AlertRecord, sent: Changes, traits: Traits): Changes {
  const isTile = sent.source === 'tile';
  const other: Changes = traits.otherSource === 'cleared' ? {} : stored;
  return {
    source: isTile ? 'tile' : 'saved_search',
    dashboardId: isTile ? sent.dashboardId : other.dashboardId,
    tileId: isTile ? sent.tileId : other.tileId,
    savedSearchId: isTile ? other.savedSearchId : sent.savedSearchId,
    groupBy: groupByAfter(stored, sent, traits, isTile),
  };
}

function groupByAfter(stored: AlertRecord, sent: Changes, traits: Traits, isTile: boolean) {
  if (traits.omittedGroupBy === 'cleared') return isTile ? undefined : (sent.groupBy ?? undefined);
  return sent.groupBy === undefined ? stored.groupBy : sent.groupBy;
}

// An update that omits these fields clears the note and the consecutive windows, but keeps the
// bound and the schedule.
function extendedChanges(stored: AlertRecord, sent: Changes): Changes {
  return {
    note: sent.note ?? undefined,
    numConsecutiveWindows: sent.numConsecutiveWindows ?? undefined,
    thresholdMax: sent.thresholdMax ?? stored.thresholdMax,
    scheduleOffsetMinutes: sent.scheduleOffsetMinutes ?? stored.scheduleOffsetMinutes,
    scheduleStartAt: sent.scheduleStartAt ?? stored.scheduleStartAt,
  };
}

function channelsAfter(stored: AlertRecord, body: Json, traits: Traits) {
  if (traits.channels === 'many') return channelsOf(body);
  // A server with one channel per alert cannot change the other stored channels.
  return [...channelsOf({ channel: body.channel }), ...stored.channels.slice(1)];
}
