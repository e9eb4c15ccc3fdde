import { DAY_MS, HOUR_MS } from '../base/time.ts';
import { alertKind, pruneAlerts } from './alerts.ts';
import type { WorkflowContext } from './context.ts';
import { expireKind, lostKind, runKind } from './execute.ts';
import { followKind } from './follow.ts';
import { freezeKind } from './freezes.ts';
import type { JobKinds } from './jobs.ts';
import type { MaintenanceJob } from './maintenance.ts';
import { redrawOpen } from './moves.ts';
import { directoryWatch } from './news.ts';
import { incidentKind, pressKind } from './press.ts';
import { pruneRates } from './rates.ts';
import { revertKind } from './reverts.ts';
import { scheduleKind } from './schedules.ts';
import { dropExpiredSecrets } from './secret.ts';
import { messageKinds } from './show.ts';

/** Every kind of job of the workflow. */
export function jobKinds(
  context: WorkflowContext,
  { follows }: { readonly follows: boolean },
): JobKinds {
  return {
    ...messageKinds(context),
    alert: alertKind(context),
    press: pressKind(context),
    incident: incidentKind(context),
    run: runKind(context),
    expire: expireKind(context),
    lost: lostKind(context),
    revert: revertKind(context),
    schedule: scheduleKind(context),
    freeze: freezeKind(context),
    follow: followKind(context, { isOn: follows }),
  };
}

const WATCHED_EVERY_MS = 1_000;

/** Periodic work that no user waits for. */
export function upkeepJobs(context: WorkflowContext): readonly MaintenanceJob[] {
  return [
    { name: 'drop alerts', work: () => pruneAlerts(context), everyMs: DAY_MS },
    // Finds deleted cards, too. At the start, the configuration may be a new one.
    { name: 'check cards', work: () => redrawOpen(context), everyMs: HOUR_MS },
    { name: 'watch directory', work: directoryWatch(context), everyMs: WATCHED_EVERY_MS },
    { name: 'drop passwords', work: () => dropExpiredSecrets(context), everyMs: HOUR_MS },
    { name: 'drop counters', work: () => pruneRates(context), everyMs: HOUR_MS },
  ];
}
