import { ApiError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/text.ts';
import type { CurrentState } from '../../commands/index.ts';
import type { Change, ChangeId, StateCheck, StateDifference } from '../../domain/change.ts';
import type { WorkflowContext } from './ports.ts';

interface TargetFields {
  readonly fields: JsonObject | 'gone';
  readonly differences: readonly StateDifference[];
}

/** The target right before a claim. */
export interface TargetFacts {
  /** The current fields of the target; null for a command that has no read in the contract. */
  readonly target: TargetFields | null;
  /** What the change depends on, compared with its preview; null where that was not read. */
  readonly state: CurrentState | null;
}

/** Reads the target again, outside any transaction. Throws if a read of the contract fails. */
export async function readTarget(context: WorkflowContext, change: Change): Promise<TargetFacts> {
  const command = context.commands.get(change.command);
  const state = await command?.compareBeforeSending?.(change.plan, context.commandContext());
  return { target: await readFields(context, change), state: state ?? null };
}

async function readFields(
  context: WorkflowContext,
  { command, plan }: Change,
): Promise<TargetFacts['target']> {
  const { readBeforeSending: read, differences } = context.commands.get(command) ?? {};
  if (!read) return null;
  const { target, before } = plan;
  try {
    const { fields } = await read(target, context.commandContext());
    return { fields, differences: (before && differences?.(before, fields)) ?? [] };
  } catch (error) {
    // A definite refusal, for example "no such alert": the target no longer exists.
    if (error instanceof ApiError && error.effect === 'refused') return GONE;
    throw error;
  }
}

const GONE: TargetFields = {
  fields: 'gone',
  differences: [{ label: 'On the server', was: 'present', is: 'deleted or not visible' }],
};

/** For how long a failed optional read delays a change. */
const PATIENCE_MS = 120_000;

/**
 * Since when this process could not read the targets of its changes. Another process or a restart
 * begins again, which only delays the change.
 */
export interface ReadPatience {
  /** Whether the read has to be repeated before the change may be sent without it. */
  readonly isWaiting: (id: ChangeId, state: CurrentState | null, now: Date) => boolean;
  readonly clear: (id: ChangeId) => void;
}

export function createReadPatience(): ReadPatience {
  const since = new Map<ChangeId, number>();
  return {
    isWaiting: (id, state, now) => {
      if (state?.kind !== 'unread' || state.isOff) return false;
      const first = since.get(id) ?? now.getTime();
      since.set(id, first);
      return now.getTime() - first < PATIENCE_MS;
    },
    clear: (id) => void since.delete(id),
  };
}

/** What is stored with a change that is sent although its target could not be read. */
export function unverified(state: CurrentState | null): StateCheck | undefined {
  return state?.kind === 'unread' ? { kind: 'unverified', why: state.why } : undefined;
}
