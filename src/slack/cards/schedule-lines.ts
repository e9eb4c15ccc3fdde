import type { Change } from '../../changes/change.ts';
import {
  SCHEDULE_DAYS,
  scheduleLine as scheduleCommand,
  scheduleText,
} from '../../intent/ports/schedule-service.ts';
import { timesOf } from '../../intent/services/schedule-change.ts';
import type { Button } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';

/** In the thread of a schedule that expires soon, or has expired. */
export function scheduleReminderLine(
  { requester, plan }: Change,
  { until, hasExpired }: { readonly until: Date; readonly hasExpired: boolean },
): Line {
  const what = `the schedule of ${plan.target.name}, ${textOf(plan)},`;
  const when = hasExpired ? ' has expired. Nothing runs any more.' : ' expires ';
  const next = ` Renew it to use it for ${SCHEDULE_DAYS} more days.`;
  return [
    { user: requester },
    ` ${what}${when}`,
    ...(hasExpired ? [] : [{ at: until }, '.']),
    next,
  ];
}

function textOf({ body }: Change['plan']): string {
  return scheduleText(timesOf({ fields: body }));
}

/** Requests the same schedule again: a new change with a preview and its own approvals. */
export function renewButtons({ plan, reason }: Change): readonly Button[] {
  const { id, name } = plan.target;
  const line = scheduleCommand({ service: { id, name }, ...timesOf({ fields: plan.body }) });
  // A reason that contains a quote is not quoted: the inner quote would end it.
  const why = reason === null ? '' : reason.includes('"') ? ` ${reason}` : ` "${reason}"`;
  return [{ id: 'command.0', label: 'Renew…', value: `${line}${why}` }];
}
