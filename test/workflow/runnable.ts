import type { ChangeCommand } from '../../src/commands/index.ts';
import type { Change, Refusal, RoleName, UserId } from '../../src/domain/change.ts';
import type { AttemptMark, Mark, WorkflowContext } from '../../src/workflow/context.ts';
import { runKind } from '../../src/workflow/execute.ts';
import type { JobResult } from '../../src/workflow/jobs.ts';
import { aChange, createTestContext, type Example, eventsOf, loaded } from './context.ts';

interface Circumstances {
  readonly change?: Example | ((context: WorkflowContext) => Promise<Change>);
  readonly context?: NonNullable<Parameters<typeof createTestContext>[0]>;
  /** Replaces the roles of a user, or is the refusal of the lookup. */
  readonly users?: Readonly<Record<UserId, readonly RoleName[] | Refusal>>;
  readonly command?: Partial<ChangeCommand>;
  /** What happens once the thread shows the note of the attempt. */
  readonly onNote?: (all: { thread: Thread; slack: { isReachable: boolean } }) => unknown;
}

interface Thread {
  card: Mark | null;
  notes: AttemptMark[];
  isDeleted: boolean;
}

/** A change, approved twice unless it says otherwise, the thread of its card, and the means to run it. */
export async function runnable({
  change: example = { state: 'approved' },
  context: options = {},
  users = {},
  command = {},
  onNote = () => undefined,
}: Circumstances = {}) {
  const thread: Thread = { card: null, notes: [], isDeleted: false };
  const slack = { isReachable: true, showsNotes: true };
  const call = () => {
    if (!slack.isReachable) throw new Error('ECONNREFUSED');
  };
  const all = await createTestContext({
    ...options,
    messages: {
      readThread: async () => {
        call();
        return thread.isDeleted ? null : { card: thread.card, notes: [...thread.notes] };
      },
      postSending: async (_change, _at, mark) => {
        call();
        if (slack.showsNotes) thread.notes.push(mark);
        await onNote({ thread, slack });
      },
      ...options.messages,
    },
  });
  for (const [user, held] of Object.entries(users)) all.roles.set(user as UserId, held);
  const commands = new Map(
    [...all.context.commands].map(([name, one]) => [name, { ...one, ...command }]),
  );
  const context: WorkflowContext = { ...all.context, ...(options.commands ? {} : { commands }) };
  const change = await (typeof example === 'function'
    ? example(context)
    : aChange(context, example));
  const kind = runKind(context);
  return {
    ...all,
    context,
    change,
    thread,
    slack,
    run: (): Promise<JobResult> => kind.run({ key: change.id, again: false, attempts: 1 }),
    current: () => loaded(context, change.id),
    events: () => eventsOf(context, `change/${change.id}`),
  };
}
