import { type Json, pick } from '../json.ts';
import { TEAM } from '../seed/alert-references.ts';
import { TRAITS, type Traits } from './profiles.ts';
import type { AlertRecord, AlertsState } from './state.ts';

/** The alert in the format of the current profile, without fields that do not apply. */
export function alertReply({ profile, now }: AlertsState, record: AlertRecord): Json {
  const traits = TRAITS[profile];
  const all = {
    ...pick(record, ['id', 'name', 'message', 'threshold', 'interval', 'thresholdType']),
    ...stateFields(record, traits, now()),
    ...channelFields(record, traits),
    ...referenceFields(record, traits),
    ...(traits.extended ? pick(record, EXTENDED) : {}),
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
  return withoutMissing(all, traits.values === 'contract');
}

function stateFields({ source, state, silenced }: AlertRecord, traits: Traits, now: Date) {
  if (traits.values === 'contract') {
    return {
      source: source === 'saved_search' ? 'search' : source,
      state: contractState(state),
      silenced: silenced !== undefined && new Date(silenced.until) > now,
    };
  }
  const embedded = traits.names === 'plain' ? { _id: TEAM, ...silenced } : silenced;
  return { source, state, silenced: silenced && embedded };
}

// The contract has two states. An unknown state of the server is not mapped.
function contractState(state: string): string {
  if (state === 'ALERT') return 'active';
  return ['OK', 'PENDING', 'INSUFFICIENT_DATA', 'DISABLED'].includes(state) ? 'inactive' : state;
}

function channelFields({ channels }: AlertRecord, traits: Traits) {
  const [channel] = channels;
  if (channel === undefined) return {};
  return traits.channels === 'many' ? { channel, channels } : { channel };
}

function referenceFields(record: AlertRecord, traits: Traits) {
  const { dashboardId, tileId, savedSearchId, groupBy } = record;
  // Servers before the first that accepts null also return null.
  const grouping = {
    groupBy: traits.nullGroupBy === 'accepted' ? (groupBy ?? undefined) : groupBy,
  };
  return traits.names === 'with id'
    ? { teamId: TEAM, dashboardId, tileId, savedSearchId, ...grouping }
    : { team: TEAM, dashboard: dashboardId, tileId, savedSearch: savedSearchId, ...grouping };
}

const EXTENDED = [
  ...['thresholdMax', 'note', 'numConsecutiveWindows', 'scheduleOffsetMinutes'],
  ...['scheduleStartAt', 'executionErrors'],
];

function withoutMissing(all: Json, nullsToo: boolean): Json {
  const present = Object.entries(all).filter(
    ([, value]) => value !== undefined && !(nullsToo && value === null),
  );
  return Object.fromEntries(present);
}
