import { z } from 'zod';
import type { ChangeId } from '../domain/change.ts';
import { freezeTarget, scopeFrom, scopeWords } from '../domain/freezes.ts';
import { changeCommand } from '../intent/define.ts';

export const changeUnfreeze = changeCommand({
  name: 'change unfreeze',
  aliases: ['change thaw'],
  title: 'End a freeze',
  summary: 'End a freeze early, if it was made in Slack',
  examples: ['change unfreeze tag:prod the launch is over', 'change unfreeze 7KQ2MX'],
  args: z.strictObject({
    freeze: z.string().min(1).max(100).meta({ label: 'Freeze', names: 'freeze' }),
  }),
  call: 'PUT freeze',
  callClass: 'put',

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
  send: async (_target, body, { freezes }, { id, requester: by, reason }) => {
    // The plan took the id from the freeze, which has the id of its change.
    await freezes.lift({ id, by, reason }, String(body.lift) as ChangeId);
    return { requestId: null, reported: [], learned: null };
  },
  undo: (_target, _before, body) => {
    const scope = scopeFrom(body);
    const until = `until=${String(body.until).slice(0, 16)}Z`;
    return { label: 'Freeze again', line: `change freeze ${scopeWords(scope)} ${until}` };
  },
  outcome: { done: 'unfrozen' },
  endingNote: 'Changes are allowed again unless another freeze applies.',
});
