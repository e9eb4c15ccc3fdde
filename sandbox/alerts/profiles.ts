/**
 * `docs` behaves as the page of the contract describes. The other profiles are the real server at
 * three dates; `code` is the latest. They differ in names, in validation, and in what an update does
 * to stored fields that it omits.
 */
export type AlertsProfile = 'code' | 'code-2026-07' | 'code-2026-01' | 'docs';

export interface Traits {
  /** `teamId`, `dashboardId`, `savedSearchId` in replies, or the same without `Id`. */
  readonly names: 'with id' | 'plain';
  /** `contract`: replies have the values `search`, `active` and a boolean `silenced`. */
  readonly values: 'contract' | 'server';
  readonly paging: boolean;
  readonly channels: 'many' | 'one';
  /** True when alerts have notes, ranges, schedules and consecutive windows. */
  readonly extended: boolean;
  readonly references: 'checked' | 'unchecked';
  readonly omittedGroupBy: 'kept' | 'cleared';
  /** The fields of the previous source after an update changes the source. */
  readonly otherSource: 'kept' | 'cleared';
  readonly nullGroupBy: 'accepted' | 'refused';
  readonly negativeThreshold: 'accepted' | 'refused';
  readonly errors: 'message' | 'array';
  /** The optional reads that the server has. */
  readonly reads: 'all' | 'dashboards' | 'none';
  /** The reply to an unknown alert: JSON, or the plain text `Not Found`. */
  readonly unknownAlert: 'json' | 'text';
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
  reads: 'all',
  unknownAlert: 'json',
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
  reads: 'dashboards',
  unknownAlert: 'text',
};

export const TRAITS: Readonly<Record<AlertsProfile, Traits>> = {
  code: AUGUST,
  'code-2026-07': JULY,
  'code-2026-01': JANUARY,
  docs: {
    ...{ ...JANUARY, values: 'contract', errors: 'message', negativeThreshold: 'accepted' },
    reads: 'none',
  },
};
