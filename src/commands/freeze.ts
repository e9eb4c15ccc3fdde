import { z } from 'zod';
import { type LocalClock, typedSpan } from '../base/moments.ts';
import {
  type FreezeUntil,
  FreezeUntilText,
  freezeList,
  freezeTarget,
  type Scope,
  type ScopeArguments,
  scopeFrom,
  scopeOf,
  scopeText,
  scopeWords,
  servicesIn,
} from '../domain/freezes.ts';
import type { Service } from '../domain/targets.ts';
import { momentText, SCOPE_KEYS } from './arguments.ts';
import { changeCommand, queryCommand, type ReadPhrase } from './define.ts';
import { nameAt } from './names.ts';

// Concerns several fields, so the sentence is shown without a field name.
const ONE_SCOPE = {
  field: '',
  problem: 'Choose exactly one of: a service, a tag, a warehouse or everything.',
};

/** A tag or a warehouse without its key; a name that is also a service is asked about. */
export const scopePhrase: ReadPhrase = (words, { given, vocabulary }) => {
  const [first = ''] = words;
  if (/^(over|during|through)$/i.test(first)) {
    return { taken: words.length, unclear: `Until when? “${words.join(' ')}” names no moment.` };
  }
  if (given.scope !== undefined || given.tag !== undefined || given.warehouse !== undefined)
    return null;
  const typed = words.map((text) => ({ text, quoted: false }));
  const at = (names: 'service' | 'tag' | 'warehouse') => nameAt(names, typed, vocabulary);
  const key = (['tag', 'warehouse'] as const).find(at);
  const found = key && at(key);
  if (!found) return null;
  const { taken, text } = found;
  const own = { [key]: text };
  const service = at('service');
  if (!service) return { taken, given: own };
  const readings = [
    { label: `Service ${service.text}`, given: { scope: service.text } },
    { label: `All services with ${key} ${text}`, given: own },
  ];
  return { taken, choice: { why: `“${first}” is a service and a ${key}. Which one?`, readings } };
};

/** A scope by its name, or by the key of a tag or a warehouse; `isPart`: not everything. */
export const scopeFields = (words: { readonly label: string; readonly isPart?: true }) => ({
  scope: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ ...words, names: 'scope', unlessTyped: true }),
  ...SCOPE_KEYS,
});

export const changeFreeze = changeCommand({
  name: 'change freeze',
  program: 'none',
  title: 'Freeze changes',
  summary: 'Block all changes of a service, a tag or everything for a while',
  examples: [
    'change freeze tag=prod until=4h launch of the shop',
    'change freeze analytics-prod until=20:00 backfill is running',
    'change freeze everything until=2d year end',
  ],
  args: z.strictObject({
    ...scopeFields({ label: 'What to freeze' }),
    until: FreezeUntilText.meta({
      word: 'until',
      label: 'Until',
      reads: (typed: string, clock: LocalClock | null) =>
        typedSpan(typed) ?? momentText('until', typed, clock),
      hint: 'A duration (4h, 2d) or a time (20:00, monday 8:00) in your time zone; at most 90d',
    }),
  }),
  call: 'PUT freeze',
  needsReason: true,
  phrase: scopePhrase,

  resolveArguments: async (args, { freezes }, by) => {
    const end = await freezes.endOf(args.until, by);
    return end.ok ? { ok: true, args: { ...args, until: { at: end.at } } } : end;
  },
  problems: (args) => (scopeOf(args) ? [] : [ONE_SCOPE]),
  target: (args, { services }) => freezeTarget(planned(args), services),
  desired: (args) => ({ scope: { ...planned(args) }, until: iso(args.until) }),
  rows: ({ until }) => [{ field: 'until', label: 'Until', before: null, after: iso(until) }],
  warnings: (args, _before, { services }) => [
    affected(servicesIn(planned(args), services)),
    'All changes are blocked, even in an emergency and even if they are approved already.',
  ],
  own: 'freeze',
  undo: ({ id }) => ({ label: 'Unfreeze', line: `change unfreeze ${id}` }),
  outcome: { done: 'frozen' },
  endingNote: 'The freeze is in force now, for all users.',
});

/** The scope of a plan: without exactly one, nothing was planned. */
export function planned(about: ScopeArguments): Scope {
  const scope = scopeOf(about);
  if (scope) return scope;
  throw new Error('A change was planned without exactly one scope');
}

function iso(until: FreezeUntil): string {
  if ('at' in until) return until.at.toISOString();
  throw new Error('A freeze was planned before its end was resolved');
}

const NAMED_MAX = 8;

export function affected(services: readonly Service[]): string {
  const names = services.map(({ name }) => name);
  const shown = names.slice(0, NAMED_MAX).join(', ');
  const rest = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return names.length === 0 ? 'No known service is affected.' : `Affected: ${shown}${rest}.`;
}

export const changeFreezes = queryCommand({
  name: 'change freezes',
  program: 'read',
  title: 'List freezes',
  summary: 'List current and future freezes, and how to end them',
  examples: ['change freezes'],
  args: z.strictObject({}),
  answer: async (_args, { freezes, now }) => {
    const [all, madeInSlack] = await Promise.all([freezes.all(), freezes.madeInSlack()]);
    const at = now();
    const ordered = all.toSorted((a, b) => a.from.getTime() - b.from.getTime());
    const current = ordered.filter(({ from }) => from <= at);
    const future = ordered.filter(({ from }) => from > at);
    const offers = madeInSlack.map(({ id, scope }) => ({
      label: `Unfreeze ${scopeText(scope)} (${id})`,
      line: `change unfreeze ${id}`,
    }));
    return {
      title: current.length > 0 ? `Frozen now: ${current.length}` : 'Nothing is frozen now',
      parts: [
        ...freezeList('Now', current),
        ...freezeList('Future', future),
        {
          kind: 'note',
          text: 'Freezes in signalbox.yaml end at their time, or when the file is edited.',
        },
        { kind: 'offers', offers },
      ],
    };
  },
});

export const changeUnfreeze = changeCommand({
  name: 'change unfreeze',
  program: 'none',
  title: 'End a freeze',
  summary: 'End a freeze early, if it was made in Slack',
  examples: ['change unfreeze tag:prod the launch is over', 'change unfreeze 7KQ2MX'],
  args: z.strictObject({
    freeze: z.string().min(1).max(100).meta({ label: 'Freeze', names: 'freeze' }),
  }),
  call: 'PUT freeze',

  target: ({ freeze }, { services }) => freezeTarget(freeze.scope, services),
  desired: ({ freeze: { id, scope, freeze } }) => ({
    lift: id,
    scope: { ...scope },
    until: freeze.until.toISOString(),
  }),
  rows: ({ freeze: { freeze } }) => [
    {
      field: 'until',
      label: 'Frozen until',
      before: freeze.until.toISOString(),
      after: 'as soon as this runs',
    },
  ],
  warnings: ({ freeze: { freeze } }) => [`Reason of the freeze: ${freeze.reason}`],
  own: 'unfreeze',
  undo: (_target, _before, body) => {
    const scope = scopeFrom(body);
    const until = `until=${String(body.until).slice(0, 16)}Z`;
    return { label: 'Freeze again', line: `change freeze ${scopeWords(scope)} ${until}` };
  },
  outcome: { done: 'unfrozen' },
  endingNote: 'Changes are allowed again unless another freeze applies.',
});
