import type { Target, UserId } from '../domain/change.ts';
import type { DecisionContext } from './context.ts';
import { createFreezeService } from './freezes.ts';
import { limitedUntil } from './rates.ts';
import { createScheduleService } from './schedules.ts';
import { currentPolicy, isOperatorOf } from './target.ts';

/** What commands ask of the workflow. `limitRefresh` counts one refresh and returns when the next one is possible. */
export function commandServices(context: DecisionContext) {
  const { people, discoversServices, commands } = context;
  const policy = () => currentPolicy(context, context.events);
  return {
    freezes: createFreezeService(context),
    schedules: createScheduleService(context),
    who: { people, discoversServices, commands, policy },
    isOperatorOf: (target: Target, by: UserId) => isOperatorOf(context, target, by),
    limitRefresh: (by: UserId) => limitedUntil(context, 'refresh', by),
  };
}
