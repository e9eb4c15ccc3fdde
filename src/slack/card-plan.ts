import { type Json, type JsonObject, spanText } from '../base/text.ts';
import {
  type Change,
  type Plan,
  type PlanRow,
  type Snapshot,
  type State,
  TARGET_TRAITS,
  type Target,
  type Timing,
} from '../domain/change.ts';
import { lessParts } from '../domain/narrow.ts';
import { standingOf } from '../domain/standing.ts';
import { currentSizeText, valueText } from '../domain/targets.ts';
import { STATE_WORDS, wordOf } from '../domain/words.ts';
import { fact } from './blocks.ts';
import { bounded, type Line } from './rich-text.ts';

/**
 * Fields about encryption and private networks, which are not shown in a channel. Approvers see them
 * in private, and approvals are bound to them.
 */
const PRIVATE = new Set([
  'encryptionKey',
  'encryptionAssumedRoleIdentifier',
  'privateEndpointIds',
  'vpcResourceShareArn',
  'streamClusterArn',
]);

/** The plan as a channel may see it: private values are left out. */
export function redacted(plan: Plan): Plan {
  if (!Object.keys(plan.body).some((field) => PRIVATE.has(field))) return plan;
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
  return PRIVATE.has(field) ? 'not shown here' : value;
}

/** What changes, then the fields that stay as they are. */
export function planLines(plan: Plan): readonly Line[] {
  const { unchangedFields } = plan;
  const kept = unchangedFields.length > 0 ? [fact('Unchanged', unchangedFields.join(', '))] : [];
  return [...changedLines(plan), ...kept];
}

/**
 * What a plan changes, below the title. Of a new service, what decides is one line, and its name stands in the title:
 * `aws eu-west-1 · 8–32 GB × 3 replicas · idles after 15 min · from 10.20.0.0/16 office`.
 */
export function changedLines({ target, body, rows }: Plan): readonly Line[] {
  if (target.kind !== 'new service') return rowLines(rows);
  const words = CREATION.flatMap(({ text }) => text(body) ?? []);
  const shown = ['name', ...CREATION.flatMap(({ fields }) => fields)];
  const others = rowLines(rows.filter(({ field }) => !shown.includes(field)));
  return [[bounded(words.join(' · '), 600)], ...others];
}

/** The fields that one word of the line about a new service shows. */
const CREATION: readonly {
  readonly fields: readonly string[];
  readonly text: (body: JsonObject) => string | null;
}[] = [
  { fields: ['provider', 'region'], text: ({ provider, region }) => `${provider} ${region}` },
  {
    fields: ['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'numReplicas'],
    text: (body) => currentSizeText(body),
  },
  {
    fields: ['idleScaling', 'idleTimeoutMinutes'],
    text: ({ idleScaling, idleTimeoutMinutes: minutes }) => {
      if (idleScaling === false) return 'never idles';
      if (minutes !== undefined) return `idles after ${minutes} min`;
      return idleScaling === true ? 'idles' : null;
    },
  },
  {
    fields: ['ipAccessList'],
    text: ({ ipAccessList: list }) =>
      list === undefined ? null : `from ${valueText(list).replace(/ +(?=,|$)/g, '')}`,
  },
];

function rowLines(rows: readonly PlanRow[]): readonly Line[] {
  return rows.map(({ field, label, before, after }): Line => {
    const shown = (value: Json, most: number) => bounded(rowText(field, value), most);
    const then = storedInstant(before);
    const was: Line = then ? [then, ' → '] : before === null ? [] : [`${shown(before, 300)} → `];
    return fact(label, ...was, storedInstant(after) ?? shown(after, 600));
  });
}

/** The fields whose values are codes of an API; the value of any other field may be a name. */
const CODED = ['type', 'thresholdType', 'state', 'streamAuthentication', 'source'];

/** The value of a row in words. */
export function rowText(field: string, value: Json): string {
  return typeof value === 'string' && CODED.includes(field) ? wordOf(value) : valueText(value);
}

/** A stored instant, which Slack shows in the reader's time zone; null for any other value. */
export function storedInstant(value: Json): { at: Date } | null {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  return isInstant ? { at: new Date(value) } : null;
}

/** The target with its name, for a message that does not name it in its title. Names can be similar: the id follows. */
export function targetLines({ plan: { target } }: Pick<Change, 'plan'>): readonly Line[] {
  const { label, listedIn, appliedBy } = TARGET_TRAITS[target.kind];
  if (appliedBy === 'signalbox') return [fact(label, bounded(target.name, 150))];
  // The name of a new service is one of the requested values; it has no other attributes yet.
  if (listedIn === null) return [];
  return [fact(label, `${bounded(target.name, SHORT)} · ${target.id.slice(0, 8)}`)];
}

function placeWords({ tags, warehouse, discovered, id }: Target): readonly string[] {
  // Only a service of the configuration has a name of its own.
  const isListed = tags !== null && !discovered;
  const unlisted = isListed ? [] : [id.slice(0, 8), 'not in signalbox.yaml'];
  return [...(warehouse ? [`warehouse ${warehouse}`] : []), ...unlisted];
}

/**
 * `prod · running (checked just now) · 32–120 GB × 3 replicas · warehouse main`: what a decision about the target needs
 * to know of it, for everyone who decides.
 */
export function aboutLines({ plan, state }: Pick<Change, 'plan' | 'state'>): readonly Line[] {
  const { target, before } = plan;
  if (TARGET_TRAITS[target.kind].listedIn === null) return [];
  if (target.kind === 'alert') return [watchesLine(plan)];
  const tags = target.tags ?? [];
  const size = currentSizeText(before?.fields ?? {});
  const parts: readonly Line[] = [
    ...tags.map((tag) => [bounded(tag, SHORT)]),
    stateWords(plan, state === 'draft'),
    ...(size ? [[bounded(size, LONG)]] : []),
    ...placeWords(target).map((word) => [bounded(word, SHORT)]),
  ];
  return [parts.flatMap((part, index): Line => (index > 0 ? [' · ', ...part] : part))];
}

/** Two alerts can have one name: what it watches, by name where that was read, then the id. */
function watchesLine({ target, before }: Plan): Line {
  const names = Object(before?.volatileFields?.names ?? {});
  const watched = Object.entries(WATCHED).flatMap(([field, kind]) => {
    const name = names[kind]?.[String(before?.fields[field])];
    return typeof name === 'string' ? `${kind} “${bounded(name, SHORT)}”` : [];
  });
  return fact('Watches', [...watched, `alert id ${target.id.slice(0, 8)}`].join(' · '));
}

/** What an alert can watch, by the field that refers to it. */
const WATCHED = { savedSearchId: 'saved search', dashboardId: 'dashboard', tileId: 'tile' };

export function sendsLine({ target, sends, body }: Plan): Line {
  if (TARGET_TRAITS[target.kind].appliedBy === 'signalbox') {
    return fact('Sends', `nothing: ${target.kind}s live in Signalbox`);
  }
  return fact('Sends', { code: `${sends} ${JSON.stringify(body)}` });
}

const SHORT = 60;
const LONG = 300;

/** `running (checked just now)`, later `running when requested`; or when the target was seen last. */
function stateWords({ before }: Plan, isNow: boolean): Line {
  if (!before) return ['never seen'];
  if (!before.wasRead) return [`last seen ${seenState(before)}`, { at: before.seenAt }];
  const state = stateOf(before) ?? 'state unknown';
  return [`${state} ${isNow ? '(checked just now)' : 'when requested'}`];
}

function seenState(before: Snapshot): string {
  const state = stateOf(before);
  return state === null ? '' : `${state}, `;
}

function stateOf({ fields, volatileFields }: Snapshot): string | null {
  const state = volatileFields?.state ?? fields.state;
  return typeof state === 'string' ? bounded(wordOf(state), SHORT) : null;
}

/** When the target was read for the preview, or where it was seen last; of an alert also its state. */
export function readAtLines({ before, target }: Plan): readonly Line[] {
  if (!before) return [];
  const { source, seenAt: at } = before;
  if (target.kind === 'alert')
    return [fact('Last seen', seenState(before), { at }, ` (${source})`)];
  return [before.wasRead ? fact('Read', { at }) : fact('Seen in', source)];
}

/** What to consider before a decision, and what could not be read for the preview. */
export function warningLines({ warnings, gaps = [] }: Plan): readonly Line[] {
  const own: readonly Line[] = warnings.map((warning) => [{ bold: '⚠ ' }, warning]);
  return [...own, ...gaps.map((gap) => [bounded(gap, LONG)])];
}

/** What the read right before sending found: the differences, or that there was no answer. */
export function stateCheckLines({ stateCheck }: Change): readonly Line[] {
  if (stateCheck === undefined) return [];
  if (stateCheck.kind === 'unverified') {
    return [[`State not verified before sending: ${bounded(stateCheck.why, LONG)}.`]];
  }
  const { differences, changedBy } = stateCheck;
  const by: Line = changedBy
    ? [' (', { user: changedBy.by }, ', ', { at: changedBy.at }, `, ${changedBy.id})`]
    : [];
  if (differences.length === 0) {
    return changedBy ? [['Another change of it ran since the preview', ...by, '.']] : [];
  }
  return differences.map(({ label, was, is }) =>
    fact(label, `was ${bounded(was, SHORT)}, is now ${bounded(is, SHORT)}`, ...by),
  );
}

/** The estimate with its range; *Show request* has the rest, with `isFull`. */
export function costLines({ cost }: Plan, isFull = false): readonly Line[] {
  const range = cost ? [fact('Cost', cost.summary?.withRange ?? cost.text)] : [];
  return isFull && cost?.summary ? [...range, fact('Estimate', cost.text)] : range;
}

/** When the change runs and when it reverts, for preview and card. */
export function timingLines(change: Change): readonly Line[] {
  const { parent, plan } = change;
  const { schedule } = plan.timing ?? {};
  return [
    ...(parent ? [fact('Reverts', `${parent} (approved together)`)] : []),
    ...(schedule ? [fact('Run of schedule', `${schedule} (approved with it)`)] : []),
    ...standingLines(change),
    ...startLines(change),
    ...(plan.timing?.revert ? backLines(change) : []),
  ];
}

/** Of a use, its standing approval; of a standing approval, how much is left, and until when or why not. */
function standingLines(change: Change): readonly Line[] {
  const { standing, uses = [], revoked, state } = change;
  // Its preview says it with the approvals.
  if (standing && state !== 'draft') return [fact('Runs by', `standing approval ${standing}`)];
  const found = standingOf(change);
  if (!found) return [];
  const last = uses.at(-1);
  const latest: Line = last ? [` · last by `, { user: last.by }, ` (${last.change})`] : [];
  const by: Line =
    revoked?.by === 'signalbox' ? ['Signalbox'] : [{ user: revoked?.by ?? change.requester }];
  return [
    fact('Used', `${uses.length} of ${found.allowance.uses}`, ...latest),
    revoked
      ? fact('Revoked by', ...by, ', ', { at: revoked.at })
      : fact('Until', { at: found.until }),
  ];
}

/** The plan without what `standingLines` say of a standing approval: how many uses, and until when. */
export function shownPlan(change: Change): Plan {
  if (standingOf(change) === null) return change.plan;
  const said = change.revoked ? ['uses'] : ['uses', 'for'];
  const rows = change.plan.rows.filter(({ field }) => !said.includes(field));
  return { ...change.plan, rows };
}

/** `Narrowed by  Ben: Replicas 3 → 2`: each time that an approver lowered what was requested. */
export function narrowingLines({ narrowings = [], plan }: Change): readonly Line[] {
  return narrowings.map(({ by, wider }, index) => {
    const after = narrowings[index + 1]?.wider.plan ?? plan;
    return fact('Narrowed by', { user: by }, ': ', ...lessParts(wider.plan, after));
  });
}

const WAITING: readonly State[] = ['draft', 'pending', 'approved'];
const RAN: readonly State[] = ['executing', 'succeeded', 'failed', 'unknown'];

function startLines({ state, plan: { timing } }: Change): readonly Line[] {
  if (!timing?.startAt || RAN.includes(state)) return [];
  return [
    fact(WAITING.includes(state) ? 'Runs' : 'Was scheduled for', { at: new Date(timing.startAt) }),
  ];
}

function backLines({ state, plan, revertAt, child }: Change): readonly Line[] {
  const back = plan.timing?.revert;
  if (!back) return [];
  if (child) return [childLine(child, revertAt)];
  if (state === 'succeeded') {
    return [fact('Reverts', revertAt ? { at: revertAt } : 'not automatically')];
  }
  const isOpen = [...WAITING, 'executing', 'unknown'].includes(state);
  return isOpen ? [fact('Reverts', ...laterWords(back))] : [];
}

function laterWords({ afterMs, until, label }: NonNullable<Timing['revert']>): Line {
  if (until !== undefined) return [{ at: new Date(until) }, ` (${label})`];
  return [`${spanText(afterMs)} later (${label})`];
}

// The id is in brackets: a lost card is found by its own id, which follows a dot.
function childLine({ id, state }: NonNullable<Change['child']>, revertAt: Date | null): Line {
  if (state === 'succeeded') return fact('Reverted', `by ${id}`);
  if (state === 'unknown') return fact('Reverted', `outcome unknown (${id})`);
  const isOpen = ['approved', 'executing'].includes(state);
  if (isOpen && revertAt) return fact('Reverts', { at: revertAt }, ` (${id})`);
  return fact('Reverts', `not automatically: ${id} is ${STATE_WORDS[state]}`);
}
