import type { Change, Json, JsonObject, Plan } from '../../changes/change.ts';
import { valueText } from '../../workflow/request/plan.ts';
import { fact } from '../blocks/blocks.ts';
import { bounded, type Line } from '../blocks/rich-text.ts';

/**
 * Who may connect and how it is encrypted is nobody's to read in a channel. Whoever has to decide
 * sees it in private; what is approved is bound to all of it either way.
 */
const GUARDED = new Set([
  'ipAccessList',
  'encryptionKey',
  'encryptionAssumedRoleIdentifier',
  'vpcResourceShareArn',
  'streamClusterArn',
]);

export function holdsGuarded({ body }: Plan): boolean {
  return Object.keys(body).some((field) => GUARDED.has(field));
}

/** The plan as a channel may see it: what is guarded is counted, not shown. */
export function guarded(plan: Plan): Plan {
  if (!holdsGuarded(plan)) return plan;
  const body: JsonObject = Object.fromEntries(
    Object.entries(plan.body).map(([field, value]) => [field, hidden(field, value)]),
  );
  const rows = plan.rows.map((row) => ({
    ...row,
    before: row.before === null ? null : hidden(row.field, row.before),
    after: hidden(row.field, row.after),
  }));
  return { ...plan, body, rows };
}

function hidden(field: string, value: Json): Json {
  if (!GUARDED.has(field)) return value;
  return Array.isArray(value) ? `${value.length} (not shown here)` : 'not shown here';
}

/** Field by field what would be other than it is, and what is carried over untouched. */
export function planLines({ rows, keptAsIs }: Plan): readonly Line[] {
  const changed = rows.map(({ label, before, after }): Line => {
    const then = instantOf(before);
    const was: Line = then
      ? [then, ' → ']
      : before === null
        ? []
        : [`${bounded(valueText(before), 300)} → `];
    return fact(label, ...was, instantOf(after) ?? { bold: bounded(valueText(after), 600) });
  });
  const kept = keptAsIs.length > 0 ? [fact('Kept as is', keptAsIs.join(', '))] : [];
  return [...changed, ...kept];
}

/** An instant is read on the reader's own clock. */
function instantOf(value: Json): { at: Date } | null {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  return isInstant ? { at: new Date(value) } : null;
}

/** With the beginning of the id: two services may have one name, and a name may look like another. */
export function targetLines({ plan: { target } }: Pick<Change, 'plan'>): readonly Line[] {
  if (target.kind === 'freeze') return [fact('About', bounded(target.name, 150))];
  // Its name is one of the values that are asked for, and nothing else is known of it.
  if (target.kind === 'new service') return [];
  const about = [target.tags?.join(', '), target.warehouse, target.id.slice(0, 8)].filter(Boolean);
  const kind = target.kind === 'alert' ? 'Alert' : 'Service';
  return [fact(kind, bounded(target.name, 150), about.map((each) => ` · ${each}`).join(''))];
}

export function sendsLine({ target, sends, body }: Plan): Line {
  if (target.kind === 'freeze') return fact('Sends', KEPT_BY_US);
  return fact('Sends', { code: `${sends} ${JSON.stringify(body)}` });
}

// A method and a body would look like a call of some API.
const KEPT_BY_US = 'nothing to a server: Signalbox keeps its freezes itself';

export function costLines({ cost }: Plan): readonly Line[] {
  return cost ? [fact('Cost', cost.text)] : [];
}
