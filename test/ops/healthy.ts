import type { Gauges } from '../../src/ops/telemetry.ts';
import { minutes } from '../domain/changes-fixtures.ts';

/** The state of a process without problems, for the metrics. */
export const HEALTHY = {
  isWritable: async () => true,
  isConnected: () => true,
  configuration: () => 'c1',
};

/** What the gauges of a busy installation with a damaged log read. */
export const GAUGES: Gauges = {
  changes: new Map([
    ['pending', { count: 2, since: minutes(-90) }],
    ['unknown', { count: 0, since: null }],
  ]),
  outbox: { count: 3, since: minutes(5) },
  undeliveredCards: { count: 1, since: minutes(-11) },
  inbox: { count: 1, since: minutes(-1) },
  digests: new Map([['posted', 12]]),
  ...{ noBackup: null, logProblem: 'The log is damaged at event 7: it is missing' },
  isOutdated: true,
};
