import { type ChangeCommand, commands } from '../../src/commands/index.ts';
import type { Change } from '../../src/domain/change.ts';
import { aChange, createTestContext, type Example } from '../workflow/context.ts';

/** A Friday, on which the examples are requested. */
export const REQUESTED = new Date('2026-08-14T12:00:00.000Z');

export function minutesLater(count: number): Date {
  return new Date(REQUESTED.getTime() + count * 60_000);
}

const COMMANDS: ReadonlyMap<string, ChangeCommand> = new Map(
  commands.flatMap((each) => (each.kind === 'change' ? [[each.name, each] as const] : [])),
);

/** A context with the real commands and these changes of the size of staging, each accepted unless it says otherwise. */
export async function contextWith(...examples: readonly Example[]) {
  const { context, clock } = await createTestContext({ commands: COMMANDS });
  clock.now = REQUESTED;
  const changes: Change[] = [];
  for (const example of examples) {
    const scaled = { command: 'service scale', state: 'succeeded', answeredAt: REQUESTED } as const;
    changes.push(await aChange(context, { ...scaled, ...example }));
  }
  return { context, clock, changes };
}
