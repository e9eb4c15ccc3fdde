/**
 * `docs` is a server that does what the contract's page says. The others are the real one as it was
 * at three dates; `code` is the newest. They differ in names, in checks, and in what becomes of a
 * stored field that an update leaves out.
 */
export type AlertsProfile = 'code' | 'code-2026-07' | 'code-2026-01' | 'docs';

export interface Traits {
  /** `teamId`, `dashboardId`, `savedSearchId` in replies, or the same without `Id`. */
  readonly names: 'with id' | 'plain';
  /** Whether replies use the contract's values: `search`, `active`, a boolean `silenced`. */
  readonly values: 'contract' | 'server';
  readonly paging: boolean;
  readonly channels: 'many' | 'one';
  /** Notes, ranges, schedules and consecutive windows exist. */
  readonly extended: boolean;
  readonly references: 'checked' | 'unchecked';
  readonly omittedGroupBy: 'kept' | 'cleared';
  /** The saved search of an alert that became a tile's, and the reverse. */
  readonly otherSource: 'kept' | 'cleared';
  readonly nullGroupBy: 'accepted' | 'refused';
  readonly negativeThreshold: 'accepted' | 'refused';
  readonly errors: 'message' | 'array';
}

const AUGUST: Traits = {
  names: 'with id',
  values: 'server',
  paging: true,
  channels: 'many',
  extended: true,
  references: 'checked',
  omittedGroupBy: 'cleared',
  otherSource: 'cleared',
  nullGroupBy: 'accepted',
  negativeThreshold: 'accepted',
  errors: 'message',
};

const JULY: Traits = {
  ...AUGUST,
  channels: 'one',
  omittedGroupBy: 'kept',
  otherSource: 'kept',
  nullGroupBy: 'refused',
};

const JANUARY: Traits = {
  ...JULY,
  names: 'plain',
  paging: false,
  extended: false,
  references: 'unchecked',
  negativeThreshold: 'refused',
  errors: 'array',
};

export const TRAITS: Readonly<Record<AlertsProfile, Traits>> = {
  code: AUGUST,
  'code-2026-07': JULY,
  'code-2026-01': JANUARY,
  docs: { ...JANUARY, values: 'contract', errors: 'message', negativeThreshold: 'accepted' },
};

export const ALERTS_PROFILES: readonly AlertsProfile[] = [
  'code',
  'code-2026-07',
  'code-2026-01',
  'docs',
];
