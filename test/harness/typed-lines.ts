import { expect } from 'vitest';
import { type Json, stringOf } from '../../sandbox/json.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import { isProgress } from './messages.ts';
import { startTestSandbox, type TestSandbox } from './test-sandbox.ts';

/** The time at which the lines are typed: Friday, 16:00 in Berlin. */
const TYPED_AT = new Date('2026-11-27T15:00:00.000Z');

/** A line as it stands in a file of lines, with what must and must not happen. */
export interface TypedCase {
  readonly id: string;
  readonly kind: string;
  readonly rules: readonly string[];
  readonly line: string;
  readonly via?: 'direct message' | 'mention in a channel';
  readonly as: string;
  readonly must: {
    readonly runs?: Values;
    readonly answers?: Values;
    readonly asks?: {
      readonly about?: string;
      readonly offers?: readonly string[];
      readonly form?: Values;
    };
    readonly refused?: { readonly says: string; readonly offers?: readonly string[] };
    readonly as_line?: string;
  };
  readonly mustNot: readonly (string | Readonly<Record<string, string>>)[];
}

type Values = Readonly<Record<string, string | number>>;

const PEOPLE: Readonly<Record<string, string>> = {
  ana: 'U0ANA00001',
  finn: 'U0FINN0001',
  ben: 'U0BEN00001',
  dora: 'U0DORA0001',
  emil: 'U0EMIL0001',
};

/** What a person sees after a line. */
interface Shown {
  readonly text: string;
  readonly offers: readonly { readonly label: string; readonly line: string }[];
  /** The form that opened, with its values; null without one. */
  readonly form: { readonly command: string; readonly text: string } | null;
  readonly isPreview: boolean;
  readonly reason: string | null;
  /** An answer of a query has a title; a question and a refusal have a sentence only. */
  readonly hasTitle: boolean;
  /** Everything that was shown, without what differs between two equal answers. */
  readonly facts: string;
}

/** The sandbox as it is started by hand, with the reads of live servers, at the time of the lines. */
function startTypedWorld(): Promise<TestSandbox> {
  return startTestSandbox({
    at: TYPED_AT,
    yaml: (file) => ({
      ...file,
      cloud: { reads: 'extended' },
      budgets: [
        { name: 'everything', monthlyCredits: 9_000, notify: '#db-costs' },
        {
          ...{ name: 'production', monthlyCredits: 5_500, notify: '#db-costs' },
          on: { tags: ['prod'] },
        },
      ],
    }),
  });
}

/** Types a line as this person, and returns what the person sees. */
async function typeLine(
  sandbox: TestSandbox,
  { as, line, via }: Pick<TypedCase, 'as' | 'line' | 'via'>,
): Promise<Shown> {
  const user = PEOPLE[as] ?? as;
  const { slack } = sandbox;
  for (const view of slack.clientState(user).views) await slack.close(user, view.id);
  if (via === 'direct message') await slack.openHome({ as: user });
  const direct = slack.clientState(user).channels.find(({ id }) => id.startsWith('D'))?.id ?? '';
  const own = () =>
    slack
      .clientState(user)
      .messages.filter(
        (message) =>
          (message.ephemeral || message.channel[0] === 'D') &&
          message.author !== user &&
          !isProgress(message),
      );
  const before = new Set(own().map(({ ts }) => ts));
  if (via === undefined) await slack.command(user, 'ops', line);
  else {
    const channel = via === 'direct message' ? direct : 'C0OPS000001';
    await slack.sendMessage({ as: user, channel, text: line.replace('@Signalbox', '@signalbox') });
  }
  const messages = () => own().filter(({ ts, text }) => !before.has(ts) && text !== 'Done.');
  const views = () =>
    slack.clientState(user).views.filter((view) => !JSON.stringify(view).includes('Reading the'));
  await expect
    .poll(() => messages().length + views().length, { interval: 2, timeout: 20_000 })
    .toBeGreaterThan(0);
  return shownOf(messages(), views()[0] ?? null);
}

interface ShownMessage {
  readonly text: string;
  readonly blocks: readonly Json[];
  readonly files: readonly unknown[];
}

function shownOf(
  messages: readonly ShownMessage[],
  view: { readonly callbackId: string } | null,
): Shown {
  const blocks = messages.flatMap((message) => message.blocks);
  const text = messages.map((message) => message.text).join('\n');
  const elements = elementsIn(blocks).map(({ element }) => element);
  const offers = elements
    .filter(({ action_id: id }) => /^command\.\d+$/.test(String(id)))
    .map(({ text: label, value }) => ({
      label: stringOf(Object(label).text),
      line: stringOf(value),
    }));
  const isPreview = elements.some(({ action_id: id }) => id === 'change.confirm');
  const [, reason = null] = /^\*?Reason\*?:? +(.*)$/m.exec(text) ?? [];
  const shown = blocks.filter(
    (block, index) => !(block.type === 'context' && index === blocks.length - 1),
  );
  return {
    text,
    offers,
    form: view && { command: view.callbackId.replaceAll('.', ' '), text: JSON.stringify(view) },
    isPreview,
    reason,
    hasTitle: blocks.some(isTitle) || messages.some(({ files }) => files.length > 0),
    facts: factsOf(shown),
  };
}

function isTitle({ type }: Json): boolean {
  return type === 'header' || type === 'data_table';
}

/** Change ids, block ids and the values of buttons differ between two previews of one change. */
function factsOf(blocks: readonly Json[]): string {
  return JSON.stringify(blocks, (key, value) => (DIFFERENT.has(key) ? undefined : value)).replace(
    /\b(?=[0-9A-Z]*\d)[0-9A-Z]{6}\b|(?<=Request )[0-9a-f-]{36}/g,
    'ID',
  );
}

const DIFFERENT = new Set(['block_id', 'value', 'action_id']);

/** What is wrong about the answer to a line; nothing if the answer is right. */
export async function faultsOf(typed: TypedCase): Promise<readonly string[]> {
  const { must, mustNot, as } = typed;
  // Each line is the first one in its world: the request budgets of the APIs are untouched.
  const alone = async (line: Parameters<typeof typeLine>[1]) =>
    typeLine(await startTypedWorld(), line);
  const shown = await alone(typed);
  const faults = [...wantedFaults(shown, must), ...mustNot.flatMap((not) => broken(shown, not))];
  if (must.as_line !== undefined && (must.runs || must.answers)) {
    const same = await alone({ as, line: must.as_line });
    if (shown.facts !== same.facts || shown.form?.command !== same.form?.command)
      faults.push(`not the same as ${must.as_line}: ${gist(same)}`);
    const isUnderstood = !isDead(same) || must.answers?.command === 'change cancel';
    if (!isUnderstood) faults.push(`not understood either: ${must.as_line}`);
  }
  for (const { label, line } of mustNot.includes('dead button') ? shown.offers : []) {
    const pressed = await alone({ as, line: `/${line}` });
    if (isDead(pressed)) faults.push(`dead button [${label}] ${line}: ${gist(pressed)}`);
  }
  return faults.length > 0 ? [...faults, `shown: ${gist(shown)}`] : [];
}

/** A sentence without a title is a question or a refusal, unless the target is already as requested. */
function isDead({ hasTitle, isPreview, text, form }: Shown): boolean {
  if (form !== null || isPreview) return false;
  return hasTitle ? UNCLEAR.test(text) : !/\balready\b|^Costs of /.test(text);
}

const UNCLEAR = /didn't understand/;

function gist({ text, form, offers, isPreview }: Shown): string {
  const lines = offers.map(({ label, line }) => `[${label} → ${line}]`);
  const opened = form ? [`form ${form.command}`] : [];
  return [
    isPreview ? 'preview' : '',
    ...opened,
    text.replaceAll('\n', ' / ').slice(0, 300),
    ...lines,
  ].join(' ');
}

function wantedFaults(shown: Shown, { runs, answers, asks, refused }: TypedCase['must']): string[] {
  if (runs) return shown.isPreview ? reasonFaults(shown, runs) : ['no preview'];
  if (answers) return shown.isPreview ? ['not answered'] : [];
  if (asks?.form) return formFaults(shown, asks.form);
  if (asks) return answerFaults(shown, { says: asks.about ?? '', offers: asks.offers ?? [] });
  return refused ? answerFaults(shown, { offers: [], ...refused }) : [];
}

function reasonFaults({ reason }: Shown, { reason: wanted }: Values): string[] {
  if (wanted === undefined || reason === String(wanted)) return [];
  return [`the reason is ${reason}, not ${wanted}`];
}

function formFaults({ form, isPreview, offers }: Shown, { command, ...values }: Values): string[] {
  if (isPreview) return ['a preview instead of a form'];
  // A message opens no form: it offers the line that does.
  const text = form?.text ?? offers.map(({ line }) => line).join();
  if (form && form.command !== command) return [`the form of ${form.command}`];
  if (!form && offers.length === 0) return ['no form'];
  const missing = Object.values(values).filter(
    (value) => !text.toLowerCase().includes(String(value).toLowerCase()),
  );
  return missing.map((value) => `the form does not have ${value}`);
}

function answerFaults(
  { text, offers, isPreview, form }: Shown,
  wanted: { readonly says: string; readonly offers: readonly string[] },
): string[] {
  if (isPreview || form) return ['not asked or refused'];
  const lines = new Set(offers.map(({ line }) => plainLine(line)));
  const missing = wanted.offers.filter((line) => !lines.has(plainLine(line)));
  return [
    ...missing.map((line) => `no button ${line}`),
    ...(new RegExp(wanted.says, 'i').test(text) ? [] : [`does not say ${wanted.says}`]),
  ];
}

function plainLine(line: string): string {
  // The order of keys has no meaning.
  return line.replace(/^\//, '').replaceAll('"', '').trim().split(/\s+/).sort().join(' ');
}

const TEXT_CHECKS: Readonly<Record<string, (shown: Shown) => boolean>> = {
  run: ({ isPreview }) => isPreview,
  form: ({ form }) => form !== null,
  wall: ({ text }) => /Commands of Signalbox|Commands: /.test(text),
  zero: ({ text }) => /\b0 (alerts|of)\b|no alerts|nothing/i.test(text),
  raw: ({ text }) => /Which must|Details must|<string|\b[a-z]+[a-z]Id\b/.test(text),
  ask: ({ hasTitle, offers }) => hasTitle || offers.length > 0,
};

function broken(shown: Shown, not: TypedCase['mustNot'][number]): string[] {
  if (typeof not === 'string') return TEXT_CHECKS[not]?.(shown) ? [`must not: ${not}`] : [];
  const { wordInReason: word, button } = not;
  const labels = shown.offers.map(({ label }) => label);
  if (button !== undefined) return labels.includes(button) ? [`must not: button ${button}`] : [];
  const [, formReason = ''] =
    /"action_id":"reason"[^}]*"initial_value":"([^"]*)"/.exec(shown.form?.text ?? '') ?? [];
  const reason = shown.isPreview ? (shown.reason ?? '') : formReason;
  return word !== undefined && ` ${reason} `.includes(` ${word} `)
    ? [`must not: ${word} in the reason`]
    : [];
}

/** The share of right answers by the groups of a case, as lines of a table. */
export function figures(
  cases: readonly TypedCase[],
  isRight: (typed: TypedCase) => boolean,
): string {
  const groups = new Map<string, [number, number]>();
  for (const typed of cases) {
    for (const group of [...typed.rules, `kind ${typed.kind}`, 'all']) {
      const [right, all] = groups.get(group) ?? [0, 0];
      groups.set(group, [right + Number(isRight(typed)), all + 1]);
    }
  }
  const byName = [...groups].sort(([one], [other]) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  return byName.map(([group, [right, all]]) => `${group}: ${right} of ${all}`).join('\n');
}
