import type { CostEffect, Plan } from '../changes/change.ts';
import { dayOf } from '../costs/calendar/day.ts';
import type { CostsRead } from '../costs/ledger/costs-read.ts';
import type { ChangeCommand } from '../intent/define.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import { CREATION_TEXT, estimateText } from './effect-text.ts';
import { type CostEstimate, estimate, historySpan } from './estimate.ts';
import type { EstimatedKind } from './estimated.ts';
import { lastMoved } from './executed-changes.ts';

/** A person waits for the preview: what the report has not said by then is not known. */
const PATIENCE_MS = 2_000;

const SILENT: CostEstimate = { known: false, why: 'report-silent' };

type Asking = Pick<WorkflowContext, 'database' | 'commands' | 'commandContext' | 'log' | 'now'>;

/** What is said of the costs of a change when it is drafted; undefined where nothing is to say. */
export async function costOf(
  context: Asking,
  { effect }: Pick<ChangeCommand, 'effect'>,
  plan: Plan,
): Promise<CostEffect | undefined> {
  if (effect === undefined) return undefined;
  if (effect === 'create') return { text: CREATION_TEXT, perDay: null, share: null };
  const told = await within(PATIENCE_MS, estimateNow(context, effect, plan)).catch(
    (error: unknown) => {
      context.log.warn({ err: error }, 'the costs of a change could not be estimated');
      return null;
    },
  );
  return told ?? { text: estimateText(effect, SILENT), perDay: null, share: null };
}

async function estimateNow(context: Asking, kind: EstimatedKind, plan: Plan): Promise<CostEffect> {
  const today = dayOf(context.now());
  const { costs, services } = context.commandContext();
  const span = historySpan(today);
  const [read, moved] = await Promise.all([
    costs(span),
    lastMoved(context.database.db, span.first, context.commands),
  ]);
  const { rows, gaps } = read;
  const estimated = estimate(kind, plan, { rows, today, services, ...moved });
  // With a month missing, "not enough" says nothing of the service, but of the report.
  const silent = !estimated.known && gaps.length > 0;
  const told = silent ? SILENT : estimated;
  return costEffect(estimateText(kind, told, plan.timing), told, ageText(read));
}

function costEffect(text: string, estimated: CostEstimate, age: string): CostEffect {
  if (!estimated.known) return { text, perDay: null, share: null };
  const { effect, share } = estimated;
  return { text: `${text}${age}`, perDay: effect.perDay.about, share };
}

/** What could not be read again says how old it is, or that it is missing. */
function ageText({ gaps }: CostsRead): string {
  if (gaps.length === 0) return '';
  const parts = gaps.map(({ month, from }) => {
    const at = from?.toISOString().slice(0, 16).replace('T', ' ');
    return at ? `${month} as of ${at} UTC` : `without ${month}`;
  });
  return `; ${parts.join(', ')}, for the usage report did not answer`;
}

/** Null when it takes longer; it goes on all the same, and what it read is there the next time. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
