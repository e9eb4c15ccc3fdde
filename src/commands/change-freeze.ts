import { z } from 'zod';
import {
  type FreezeUntil,
  FreezeUntilText,
  freezeTarget,
  type Scope,
  type ScopeArguments,
  scopeFrom,
  scopeOf,
  servicesIn,
} from '../domain/freezes.ts';
import type { Service } from '../domain/targets.ts';
import { scopeField } from '../intent/arguments/arguments.ts';
import { changeCommand } from '../intent/define.ts';

// Concerns several fields, so the sentence is shown without a field name.
const ONE_SCOPE = {
  field: '',
  problem: 'Choose exactly one of: a service, a tag, a warehouse or everything.',
};

export const changeFreeze = changeCommand({
  name: 'change freeze',
  title: 'Freeze changes',
  summary: 'Block all changes of a service, a tag or everything for a while',
  examples: [
    'change freeze tag=prod until=4h launch of the shop',
    'change freeze analytics-prod until=20:00 backfill is running',
    'change freeze everything until=2d year end',
  ],
  args: z.strictObject({
    scope: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .meta({ label: 'What to freeze', names: 'scope', unlessTyped: true }),
    tag: scopeField('tag', 'All services with this tag'),
    warehouse: scopeField('warehouse', 'All services of this warehouse'),
    until: FreezeUntilText.meta({
      word: 'until',
      label: 'Until',
      hint: 'A duration (4h, 2d) or a time (20:00, 2026-11-22T20:00) in your time zone; at most 90d',
    }),
  }),
  call: 'PUT freeze',
  callClass: 'put',
  needsReason: true,

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
  send: async (_target, body, { freezes }, { id, requester: by, reason }) => {
    const until = new Date(String(body.until));
    await freezes.make({ id, by, reason }, { scope: scopeFrom(body), until });
    return { requestId: null, reported: [], learned: null };
  },
  verifyOutcome: async (_target, _body, { freezes }, { id }) =>
    (await freezes.wasMade(id)) ? { requestId: null, reported: [], learned: null } : null,
  undo: ({ id }) => ({ label: 'Unfreeze', line: `change unfreeze ${id}` }),
  outcome: { done: 'frozen' },
  endingNote: 'The freeze is in force now, for all users.',
});

function planned(about: ScopeArguments): Scope {
  const scope = scopeOf(about);
  if (scope) return scope;
  throw new Error('A freeze was planned without exactly one scope');
}

function iso(until: FreezeUntil): string {
  if ('at' in until) return until.at.toISOString();
  throw new Error('A freeze was planned before its end was resolved');
}

const NAMED_MAX = 8;

function affected(services: readonly Service[]): string {
  const names = services.map(({ name }) => name);
  const shown = names.slice(0, NAMED_MAX).join(', ');
  const rest = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return names.length === 0 ? 'No known service is affected.' : `Affected: ${shown}${rest}.`;
}
