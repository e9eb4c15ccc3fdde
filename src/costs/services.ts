import { setTimeout as wait } from 'node:timers/promises';
import type { Span } from '../base/calendar.ts';
import type { Floor } from '../maths/anomalies.ts';
import type { CostReading } from '../maths/report.ts';
import { type AnnouncementContext, postKind } from './announcements.ts';
import { listBudgets } from './budget-answer.ts';
import type { DigestOptions } from './config.ts';
import { createDigestService, type DigestServiceContext } from './digest-commands.ts';
import { createDigestRun } from './digest-posts.ts';
import { listAnomalies } from './incident-answers.ts';
import { createCostWatch, type WatchContext } from './watch.ts';
import { type AcceptedChangeFilter, listCostChanges } from './why.ts';

type ServicesContext = Omit<
  WatchContext & DigestServiceContext & AnnouncementContext,
  'configured' | 'readOptions' | 'pause' | 'floor'
> & {
  readonly organization: string;
  /** The digests of signalbox.yaml, and the reader of others. */
  readonly config: {
    readonly digests: readonly DigestOptions[];
    readonly readDigest: WatchContext['readOptions'];
    readonly costFloor: Floor;
  };
  /** `costs` reads in the background; a question of a person comes before it. */
  readonly costsForPeople: (span: Span) => Promise<CostReading>;
};

/** Opens what commands ask about budgets, digests and unusual costs, the loops that post them, and their jobs. */
export function openCostServices({ config, costsForPeople, ...given }: ServicesContext) {
  const context = {
    ...given,
    configured: config.digests,
    floor: config.costFloor,
    readOptions: config.readDigest,
    pause: (ms: number) => wait(ms),
  };
  const asked = { ...context, costs: costsForPeople };
  return {
    anomalies: {
      anomalies: () => listAnomalies(asked),
      budgets: () => listBudgets(asked),
    },
    digests: createDigestService(context),
    costChanges: (filter: AcceptedChangeFilter) => listCostChanges(context, filter),
    loops: { runDigests: createDigestRun(context), watchCosts: createCostWatch(context) },
    jobs: { post: postKind(context) },
  };
}
