import type { Target, UserId } from '../domain/change.ts';
import type { DecisionContext } from './context.ts';
import { createFreezeService } from './freezes.ts';
import { limitedUntil } from './rates.ts';
import { createScheduleService } from './schedules.ts';
import { currentPolicy, isOperatorOf } from './target.ts';

/** What commands ask of the workflow. `limitRefresh` counts one refresh and returns when the next one is possible. */
export function commandServices(context: DecisionContext) {
  return {
    freezes: createFreezeService(context),
    schedules: createScheduleService(context),
    who: { ...context, policy: () => currentPolicy(context, context.events) },
    isOperatorOf: (target: Target, by: UserId) => isOperatorOf(context, target, by),
    limitRefresh: (by: UserId) => limitedUntil(context, 'refresh', by),
  };
}
