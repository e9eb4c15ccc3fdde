import { expect, test } from 'vitest';
import { viewProblems } from '../../sandbox/slack/block-kit/validate.ts';
import {
  commands,
  fieldsOf,
  parseValues,
  type TypedValues,
  titleOf,
} from '../../src/commands/index.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import { changedIn, commandForm, type FormSetting, settingOf } from '../../src/slack/form.ts';
import { choicesFor } from '../../src/slack/inputs.ts';
import { NO_REPLY_TARGET } from '../../src/slack/post.ts';
import { vocabularyOf } from '../commands/fixtures.ts';

interface Shown {
  readonly block_id: string;
  readonly optional: boolean;
  readonly label: { readonly text: string };
  readonly hint?: object;
  readonly element: { readonly focus_on_load?: true };
}

function form(name: string, given: TypedValues = {}, setting: Partial<FormSetting> = {}) {
  const command = commands.find((each) => each.name === name) ?? expect.fail(`no ${name}`);
  const vocabulary = { ...vocabularyOf(), commands };
  const view = commandForm(command, given, vocabulary, {
    replyTarget: NO_REPLY_TARGET,
    ...setting,
  });
  const inputs = view.blocks.filter(({ type }) => type === 'input') as unknown as Shown[];
  const focused = inputs
    .filter(({ element }) => element.focus_on_load)
    .map((each) => each.block_id);
  return { view, inputs, focused };
}

test.for<[string, string, string, TypedValues?]>([
  ['service stop', 'Stop a service', 'Preview'],
  ['backup show', 'Look up a backup', 'Look up'],
  ['change cancel', 'Cancel a change', 'Cancel change'],
  ['cost csv', 'Get costs as a file', 'Get file'],
  ['cost digest', 'Manage cost digests', 'Continue'],
  ['cost digest', 'Add a cost digest', 'Add digest', { what: 'add' }],
  ['cost digest', 'Remove a cost digest', 'Remove digest', { what: 'remove' }],
  ['cost digest', 'Manage cost digests', 'Continue', { what: 'pasue' }],
])('the form of %s is called “%s” and is submitted with “%s”', ([name, title, submit, given]) => {
  const { view } = form(name, given);
  expect([view.title.text, view.submit?.text]).toEqual([title, submit]);
});

test('the form of a standing approval offers each scope but everything, which it refuses', () => {
  const offered = (name: string) => {
    const { args } = commands.find((each) => each.name === name) ?? expect.fail(`no ${name}`);
    const field = fieldsOf(args).find(({ names }) => names === 'scope') ?? expect.fail('no scope');
    return choicesFor(field, {}, { ...vocabularyOf(), commands }).map(({ id }) => id);
  };
  const [everything, ...parts] = offered('change freeze');
  expect(everything).toBe('everything');
  expect(offered('change allow')).toEqual(parts);
  const { view } = form('change allow');
  expect(JSON.stringify(view)).toContain('Choose a service, a tag or a warehouse');
  expect(JSON.stringify(view)).not.toContain('everything');
});

test.for(commands.map(({ name }) => [name] as const))(
  'the empty form of %s has a whole title, and the focus is in the first field to fill',
  ([name]) => {
    const { view, inputs, focused } = form(name);
    expect(viewProblems(view)).toEqual([]);
    expect(view.title.text).not.toMatch(/…$/);
    const first = inputs.find(({ optional }) => !optional) ?? inputs[0];
    expect(focused).toEqual(first ? [first.block_id] : []);
  },
);

test.for(['zzz', 'constructor', '__proto__', ' '])(
  'for the provider %j, a form has no field without choices, which Slack would refuse',
  (provider) => {
    const { view, inputs } = form('service create', { provider });
    expect(viewProblems(view)).toEqual([]);
    expect(inputs.map(({ block_id }) => block_id)).not.toContain('region');
  },
);

test.for<[string, string | null, boolean, boolean]>([
  ['in a channel', 'C0DBCOSTS01', true, true],
  ['in Home', null, false, false],
  ['in a direct message', 'D0ANA00001', false, false],
])('the channel of a digest that is added %s', ([, channel, isOptional, hasDefault]) => {
  const replyTarget = { ...NO_REPLY_TARGET, channel: channel as ChannelId | null };
  const { inputs } = form('cost digest', { what: 'add' }, { replyTarget });
  const which = inputs.find(({ block_id }) => block_id === 'which');
  expect(which?.optional).toBe(isOptional);
  expect(which?.hint !== undefined).toBe(hasDefault);
});

test('no two forms have one title', () => {
  const titles = commands.map(titleOf);
  expect(new Set(titles).size).toBe(titles.length);
});

test('the focus is where a value is missing, and a redrawn form does not move it', () => {
  const given = { service: 'staging' };
  expect(form('service stop', given, { needsReason: true }).focused).toEqual(['reason']);
  expect(form('service stop', given).focused).toEqual(['service']);
  const { focused } = form('service stop', given, { problems: { at: 'At is no time.' } });
  expect(focused).toEqual(['at']);
  expect(form('service stop', given, { isRedrawn: true }).focused).toEqual([]);
});

test.for(['start', 'stop', 'scale', 'create'].map((verb) => [verb] as const))(
  'the time of service %s is labelled with its verb',
  ([verb]) => {
    const at = form(`service ${verb}`).inputs.find(({ block_id }) => block_id === 'at');
    expect(at?.label.text.toLowerCase()).toBe(`${verb} at`);
  },
);

const INVALID = [
  ...'zzz amazon -1 0 0.5 99999999999999999999 1e9 NaN " <!channel> arn:aws:s3:::b null'.split(' '),
  ...[' ', '🦊'.repeat(90), 'x'.repeat(3_500), 'on\noff', '\u0000'],
];
/** Values with which each of the other fields has its place in the form. */
const OTHERS: Readonly<Record<string, TypedValues>> = {
  'service create': { provider: 'aws', region: 'eu-west-1', dataWarehouseId: 'w', byocId: 'b' },
  'endpoint create': { service: 'staging', type: 'VPC_RESOURCE' },
  'alert edit': { alert: 'a' },
};
const DEPENDS_ON: Readonly<Record<string, string>> = {
  ...{ region: 'provider', vpcResourceConfigurationId: 'type', vpcResourceShareArn: 'type' },
  ...{ idleTimeoutMinutes: 'idleScaling' },
};
const FIELDS = commands.flatMap((command) =>
  fieldsOf(command.args).map(({ name }) => [command.name, name] as const),
);

test.for(FIELDS)(
  '%s: an invalid %s leaves the form usable and has its problem there',
  ([name, field]) => {
    const command = commands.find((each) => each.name === name) ?? expect.fail(`no ${name}`);
    const usual = form(name, OTHERS[name]).inputs.map(({ block_id }) => block_id);
    for (const value of INVALID) {
      const given = { ...OTHERS[name], [field]: value };
      const read = parseValues(command, given, '', { ...vocabularyOf(), commands });
      const problems = read.kind === 'misread' ? read.problems : {};
      const { view, inputs } = form(name, given, { problems });
      expect(viewProblems(view)).toEqual([]);
      const own = inputs.find(({ block_id }) => block_id === field);
      // The typed value is shortened, and without its control characters.
      const [begin = ''] = (problems[field] ?? '').split(/[…“(]|, not/);
      if (own && begin !== '')
        expect(own.hint).toMatchObject({ text: expect.stringContaining(begin.slice(0, 120)) });
      const missing = usual.filter((each) => inputs.every(({ block_id }) => block_id !== each));
      // A choice on which other fields depend hides them until it is valid.
      expect(missing.every((each) => DEPENDS_ON[each] === field)).toBe(true);
    }
  },
);

test('an emptied input removes a text, and one that the form does not have removes nothing', () => {
  const filledWith = { name: 'p95', message: 'slow', threshold: '9' };
  const { view } = form('alert edit', { alert: 'a1', ...filledWith }, { filledWith });
  const command = commands.find(({ name }) => name === 'alert edit') ?? expect.fail();
  const { was } = settingOf(view.private_metadata ?? '');
  const shown = { name: 'p95' };
  const inputs = ['name', 'message', 'threshold'];
  // An alert cannot be without a threshold.
  expect(changedIn(command, shown, { inputs, was })).toEqual({ message: 'none' });
  expect(changedIn(command, shown, { inputs: ['name'], was })).toEqual({});
});
