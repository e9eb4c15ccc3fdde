import { expect, onTestFinished } from 'vitest';
import { type Json, stringOf } from '../../sandbox/json.ts';
import { elementsIn, stateValues } from '../../sandbox/slack/input-state.ts';
import { splitWords } from '../../src/base/text.ts';
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
  readonly form: {
    readonly command: string;
    /** The texts of its filled-in fields, by field. */
    readonly values: Readonly<Record<string, readonly string[]>>;
    /** Everything that it says. */
    readonly text: string;
  } | null;
  readonly isPreview: boolean;
  readonly reason: string | null;
  /** The line as Signalbox understood it, which stands below its answer; empty without one. */
  readonly understood: string;
  /** An answer of a query has a title; a question and a refusal have a sentence only. */
  readonly hasTitle: boolean;
  /** Everything that was shown, without what differs between two equal answers. */
  readonly facts: string;
}

/** The sandbox as it is started by hand, with the reads of live servers, at the time of the lines. */
async function startTypedWorld(): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({
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
  sandbox.cloud.behave({ costLocking: STEADY });
  return sandbox;
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
    .poll(() => messages().length + views().length, { interval: 5, timeout: 20_000 })
    .toBeGreaterThan(0);
  return shownOf(messages(), views()[0] ?? null);
}

interface ShownMessage {
  readonly text: string;
  readonly blocks: readonly Json[];
  readonly files: readonly unknown[];
}

/** The line of a button, without the MAC of one that acts at once. */
function lineIn(value: unknown): string {
  return stringOf(value).replace(/\.[\w-]{22}$/, '');
}

function shownOf(
  messages: readonly ShownMessage[],
  view: { readonly callbackId: string; readonly blocks: readonly Json[] } | null,
): Shown {
  const blocks = messages.flatMap((message) => message.blocks);
  const text = messages.map((message) => message.text).join('\n');
  const elements = elementsIn(blocks).map(({ element }) => element);
  const offers = elements
    .filter(({ action_id: id }) => /^command\.\d+$/.test(String(id)))
    .map(({ text: label, value }) => ({
      label: stringOf(Object(label).text),
      line: lineIn(value),
    }));
  const isPreview = elements.some(({ action_id: id }) => id === 'change.confirm');
  const [, reason = null] = /^\*?Reason\*?:? +(.*)$/m.exec(text) ?? [];
  const last = blocks.at(-1);
  const hasLine = last?.type === 'context';
  const [line] = hasLine && Array.isArray(last.elements) ? last.elements : [];
  const understood = stringOf(Object(line).text ?? '');
  const shown = hasLine ? blocks.slice(0, -1) : blocks;
  return {
    text,
    offers,
    understood: understood.startsWith('/') ? understood : '',
    form: view && {
      command: view.callbackId.replaceAll('.', ' '),
      values: valuesIn(view.blocks),
      text: JSON.stringify(view.blocks),
    },
    isPreview,
    reason,
    hasTitle: blocks.some(isTitle) || messages.some(({ files }) => files.length > 0),
    facts: factsOf(shown),
  };
}

/** The value of each filled-in field, and the text of a chosen option. */
function valuesIn(blocks: readonly Json[]): Readonly<Record<string, readonly string[]>> {
  const fields = Object.entries(stateValues(blocks)).map(([name, elements]) => {
    const { value, selected_option: option, selected_conversation } = Object(elements[name]);
    const texts = [value, selected_conversation, option?.value, option?.text?.text];
    return [name, texts.filter((text) => typeof text === 'string')] as const;
  });
  return Object.fromEntries(fields.filter(([, texts]) => texts.length > 0));
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

type Line = Parameters<typeof typeLine>[1];

/** No user may draft more in ten minutes. */
const LINES_OF_A_WORLD = 20;
/** Then the request budgets of all clients are untouched again. */
const BUDGETS_MS = 61_000;
/** Figures that no further report moves, and of which the last ones are not final. */
const STEADY = { days: -1, batchDays: 14, stragglers: 0.02 };

let shared: { readonly sandbox: TestSandbox; readonly lines: number } | null = null;

/** Types a line in a world in which others were typed at the same time, with nothing left of their requests. */
async function typeAfterOthers(typed: Line): Promise<Shown> {
  const { sandbox, lines } = shared ?? { sandbox: await startTypedWorld(), lines: 0 };
  if (lines === 0) {
    onTestFinished(() => {
      shared = null;
    });
  }
  shared = lines + 1 < LINES_OF_A_WORLD ? { sandbox, lines: lines + 1 } : null;
  sandbox.cloud.behave({ rateLimit: null });
  sandbox.passForClients(BUDGETS_MS);
  return typeLine(sandbox, typed);
}

/** What these commands show is what other lines left, or they answer in several messages. */
const NEEDS_OWN_WORLD = /\b(csv|digests?|log|help)\b/;

/** A form has the values that were read before, and some answers show the previews of others. */
function showsOthers({ form, text }: Shown): boolean {
  return form !== null || text.includes('draft, not requested');
}

const shownAlone = new Map<string, Shown>();

/**
 * What a line shows as the first one in its world. Many cases have the same line in documented syntax and offer the same
 * lines: each is typed once.
 */
async function alone(typed: Line): Promise<Shown> {
  const key = JSON.stringify([typed.as, typed.line, typed.via]);
  const inOwnWorld = async () => typeLine(await startTypedWorld(), typed);
  const first = async () => {
    if (NEEDS_OWN_WORLD.test(typed.line)) return inOwnWorld();
    const shown = await typeAfterOthers(typed);
    return showsOthers(shown) ? inOwnWorld() : shown;
  };
  const shown = shownAlone.get(key) ?? (await first());
  shownAlone.set(key, shown);
  return shown;
}

/** What is wrong about the answer to a line; nothing if the answer is right. */
export async function faultsOf(typed: TypedCase): Promise<readonly string[]> {
  const { must, mustNot, as } = typed;
  const shown = await alone(typed);
  const faults = [...wantedFaults(shown, must), ...mustNot.flatMap((not) => broken(shown, not))];
  if (must.as_line !== undefined && (must.runs || must.answers)) {
    const same = await alone({ as, line: must.as_line });
    if (shown.facts !== same.facts || !isSameForm(shown, same))
      faults.push(`not the same as ${must.as_line}: ${gist(same)}`);
    // The words of a question may stand in any order.
    if (must.runs && plainLine(shown.understood) !== plainLine(same.understood))
      faults.push(`understood as ${shown.understood}, not as ${same.understood}`);
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
  if (runs) return shown.isPreview ? valueFaults(shown, runs) : ['no preview'];
  if (answers) return shown.isPreview ? ['not answered'] : [];
  if (asks?.form) return formFaults(shown, asks.form);
  if (asks) return answerFaults(shown, { says: asks.about ?? '', offers: asks.offers ?? [] }, true);
  return refused ? answerFaults(shown, { offers: [], ...refused }) : [];
}

/** The values of the line as it was understood, which are those of the preview. */
function valueFaults({ understood, reason }: Shown, wanted: Values): string[] {
  const { command = '', reason: because, ...values } = wanted;
  const words = splitWords(understood.slice(1));
  const isCommand = understood.startsWith(`/${command}`);
  const wrong = Object.entries(values).filter(([key, value]) => {
    const texts = words.map(({ text }) => onDay(text));
    return !texts.includes(`${key}=${onDay(String(value))}`) && !texts.includes(String(value));
  });
  return [
    ...(isCommand ? [] : [`not ${command}`]),
    ...wrong.map(([key, value]) => `${key} is not ${value}: ${understood}`),
    ...(because === undefined || reason === String(because)
      ? []
      : [`the reason is ${reason}, not ${because}`]),
  ];
}

/** A time of today with and without its date is the same, and so is a state in words. */
function onDay(text: string): string {
  return text.replace('2026-11-27T', '').replace('state=ALERT', 'state=firing');
}

function isSameForm({ form: one }: Shown, { form: other }: Shown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function formFaults({ form, isPreview, offers }: Shown, { command, ...values }: Values): string[] {
  if (isPreview) return ['a preview instead of a form'];
  // A message opens no form: it offers the line that does.
  const [{ line } = { line: '' }] = offers;
  const isCommand = form ? form.command === command : line.startsWith(`${command}`);
  const texts = form
    ? Object.values(form.values).flat()
    : splitWords(line).map(({ text }) => text.replace(/^[\w-]+=/, ''));
  const missing = Object.entries(values).filter(([name, value]) => {
    const own = form?.values[name] ?? texts;
    return !own.includes(String(value));
  });
  return [
    ...(isCommand ? [] : [`not the form of ${command}`]),
    ...missing.map(([name, value]) => `the form does not have ${name} ${value}`),
  ];
}

function answerFaults(
  { text, offers, isPreview, form }: Shown,
  wanted: { readonly says: string; readonly offers: readonly string[] },
  isQuestion = false,
): string[] {
  // A value that has no similar one is corrected in the form.
  const inForm = isQuestion && form !== null && wanted.offers.length === 0;
  if (inForm) return saysFaults(form.text, wanted.says);
  if (isPreview || form) return ['not asked or refused'];
  const lines = new Set(offers.map(({ line }) => plainLine(line)));
  const missing = wanted.offers.filter((line) => !lines.has(plainLine(line)));
  return [
    ...(isQuestion && offers.length === 0 ? ['no button at all'] : []),
    ...missing.map((line) => `no button ${line}`),
    ...saysFaults(text, wanted.says),
  ];
}

function saysFaults(text: string, says: string): string[] {
  return new RegExp(says, 'i').test(text) ? [] : [`does not say ${says}`];
}

/** Only the order of keys, the date of today and quotes around one word have no meaning. */
function plainLine(line: string): string {
  const words = splitWords(line.replace(/^\//, '')).map(({ text, quoted }) => {
    const plain = onDay(text);
    return quoted && /\s/.test(plain) ? `"${plain}"` : plain;
  });
  const isKey = (word: string) => /^[\w-]+=/.test(word);
  const keys = words.filter(isKey).sort();
  return [...words.filter((word) => !isKey(word)), ...keys].join(' ');
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
  const [inForm = ''] = shown.form?.values.reason ?? [];
  const reason = shown.isPreview ? (shown.reason ?? '') : inForm;
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
