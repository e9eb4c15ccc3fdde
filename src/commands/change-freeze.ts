import { z } from 'zod';
import type { Service } from '../directory/directory.ts';
import { scopeField } from '../intent/arguments/arguments.ts';
import {
  type FreezeUntil,
  FreezeUntilText,
  freezeTarget,
  type Scope,
  scopeFrom,
  servicesIn,
} from '../intent/arguments/freezes.ts';
import { type ScopeArguments, scopeOf } from '../intent/arguments/scopes.ts';
import { changeCommand } from '../intent/define.ts';

// Of no single field: a sentence by itself, for it is not read behind the name of one.
const SAY_WHAT = {
  field: '',
  problem: 'Say what is frozen: a service, a tag, a warehouse or everything, and only one of them.',
};

export const changeFreeze = changeCommand({
  name: 'change freeze',
  summary: 'Let nobody change a service, a tag or everything for a while',
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
      hint: 'How long (4h, 2d) or when (20:00, or YYYY-MM-DDT20:00) in your time zone; 90d at most',
    }),
  }),
  call: 'PUT freeze',
  callClass: 'put',
  needsReason: true,

  resolveArguments: async (args, { freezes }, by) => {
    const end = await freezes.endOf(args.until, by);
    return end.ok ? { ok: true, args: { ...args, until: { at: end.at } } } : end;
  },
  problems: (args) => (scopeOf(args) ? [] : [SAY_WHAT]),
  target: (args, { services }) => freezeTarget(planned(args), services),
  observe: () => null,
  desired: (args) => ({ scope: { ...planned(args) }, until: iso(args.until) }),
  rows: ({ until }) => [{ field: 'until', label: 'Until', before: null, after: iso(until) }],
  warnings: (args, _before, { services }) => [
    affected(servicesIn(planned(args), services)),
    'Nobody changes any of it meanwhile, not even in an emergency; what is approved already is refused as well.',
  ],
  send: async (_target, body, { freezes }, { id, requester: by, reason }) => {
    const until = new Date(String(body.until));
    await freezes.make({ id, by, reason }, { scope: scopeFrom(body), until });
    return { requestId: null, reported: [], learned: null };
  },
  verifyOutcome: async (_target, _body, { freezes }, { id }) =>
    (await freezes.wasMade(id)) ? { requestId: null, reported: [], learned: null } : null,
  undo: ({ id }) => ({ label: 'Unfreeze', line: `change unfreeze ${id}` }),
  endingNote: 'It holds from now on, for everybody.',
});

function planned(about: ScopeArguments): Scope {
  const scope = scopeOf(about);
  if (scope) return scope;
  throw new Error('A freeze of nothing, or of several things, was planned');
}

function iso(until: FreezeUntil): string {
  if ('at' in until) return until.at.toISOString();
  throw new Error('The end of a freeze was not worked out before it was planned');
}

const NAMED_MAX = 8;

function affected(services: readonly Service[]): string {
  const names = services.map(({ name }) => name);
  const shown = names.slice(0, NAMED_MAX).join(', ');
  const rest = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return names.length === 0 ? 'No known service is in it.' : `It is about ${shown}${rest}.`;
}
