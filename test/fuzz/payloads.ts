import type { RandomSource } from '../../sandbox/api/random.ts';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { ANA, DORA, EMIL, FINN, GINA, SVEN } from '../harness/users.ts';
import { bend, deep, pick, tear } from './mutate.ts';

/** No approver is among them, so no change may run. */
const PEOPLE = [ANA, FINN, DORA, EMIL, GINA, SVEN];
const { teamId, appId } = sandboxWorkspace;

const LINES = [
  ['service', 'stop staging for the night'],
  ['service', 'scale staging min=16 max=64 for=4h load test'],
  ['service', 'scale staging'],
  ['service', 'list'],
  ['service', 'show staging'],
  ['service', 'create'],
  ['alert', 'list latency'],
  ['alert', 'edit'],
  ['cost', 'last-month by service'],
  ['change', 'list'],
  ['change', 'freeze'],
  ['pipe', 'settings staging orders'],
  ['signalbox', ''],
] as const;

const VERBS = [
  ...['confirm', 'edit', 'cancel', 'approve', 'reject', 'undo', 'happened', 'did-not-happen'],
  ...['reveal', 'break-glass', 'review', 'details', 'take-back'],
].map((verb) => `change.${verb}`);

const FORMS = ['service.scale', 'service.create', 'alert.edit', 'change.reject', 'change.freeze'];

export interface Known {
  readonly chance: RandomSource;
  /** The ids of existing changes. */
  readonly changes: readonly string[];
  readonly responseUrl: string;
  /** The number of the payload, which makes its trigger id unique. */
  readonly number: number;
}

export interface Parcel {
  readonly type: string;
  readonly body: string;
}

const FORM = 'application/x-www-form-urlencoded';

/** A payload like those of Slack, with some unusual parts. */
export function oddParcel(known: Known): Parcel {
  const { chance } = known;
  const draws = [command, command, press, press, press, submission, submission, others];
  const { fields, isEvent } = pick(chance, draws)(known);
  const people = [...PEOPLE, ...known.changes];
  const times = Math.floor(chance() * 4);
  let bent: unknown = fields;
  for (let time = 0; time < times; time += 1) bent = bend(chance, bent, people);
  return torn(chance, enclosed(bent, isEvent));
}

interface Drawn {
  readonly fields: object;
  readonly isEvent?: boolean;
}

function about({ chance, number }: Known) {
  const user = pick(chance, PEOPLE);
  return {
    user,
    common: {
      api_app_id: appId,
      team: { id: teamId, domain: 'sandbox' },
      user: { id: user, team_id: teamId },
      trigger_id: `${number}.fuzz`,
    },
  };
}

function command(known: Known): Drawn {
  const [noun, text] = pick(known.chance, LINES);
  const { user, common } = about(known);
  const { trigger_id } = common;
  const fields = {
    command: `/${noun}`,
    text: known.chance() < 0.2 ? JSON.stringify(bend(known.chance, [text], [])) : text,
    user_id: user,
    channel_id: 'C0OPS000001',
    team_id: teamId,
    api_app_id: appId,
    trigger_id,
    response_url: known.responseUrl,
  };
  return { fields };
}

function press(known: Known): Drawn {
  const { chance } = known;
  const action = {
    type: 'button',
    action_id: pick(chance, [...VERBS, 'command.run', 'incident.details', 'page']),
    block_id: 'b1',
    value: pick(chance, [...known.changes, 'ZZZZZZ', 'service list', '0123456789abcdef']),
  };
  const fields = {
    type: 'block_actions',
    ...about(known).common,
    channel: { id: 'C0APPROVALS' },
    container: { type: 'message', message_ts: '1.2', channel_id: 'C0APPROVALS' },
    response_url: known.responseUrl,
    actions: [action],
  };
  return { fields };
}

function submission(known: Known): Drawn {
  const { chance } = known;
  const typed = (name: string, value: string) => ({
    [name]: { [name]: { type: 'plain_text_input', value } },
  });
  const values = {
    ...typed('service', '1525c708-e4bc-426d-a9e7-d11b6c27caf5'),
    ...typed('minReplicaMemoryGb', '16'),
    ...typed('reason', 'because'),
  };
  const about_ = {
    change: pick(chance, [...known.changes, 'ZZZZZZ']),
    home: false,
    channel: 'C0OPS000001',
  };
  const view = {
    id: 'V1',
    type: 'modal',
    hash: '1.a',
    callback_id: pick(chance, [...FORMS, ...VERBS, 'signalbox.palette']),
    private_metadata: JSON.stringify(chance() < 0.3 ? bend(chance, about_, []) : about_),
    state: { values },
  };
  const type = pick(chance, ['view_submission', 'view_submission', 'view_closed']);
  return { fields: { type, ...about(known).common, view } };
}

function others(known: Known): Drawn {
  const { user, common } = about(known);
  const callback_id = pick(known.chance, ['signalbox.palette', 'service.stop', 'run', 'nothing']);
  const search = { action_id: 'service', block_id: 'service', value: 'sta' };
  const event = (fields: object) => ({
    fields: { type: 'event_callback', team_id: teamId, api_app_id: appId, event: fields },
    isEvent: true,
  });
  return pick<Drawn>(known.chance, [
    { fields: { type: 'shortcut', ...common, callback_id } },
    { fields: { type: 'message_action', ...common, callback_id, message: { ts: '1.2' } } },
    { fields: { type: 'block_suggestion', ...common, ...search, view: null } },
    { fields: { type: 'dialog_submission', ...common } },
    event({ type: 'app_home_opened', user, tab: 'home', channel: 'D1', event_ts: '1.2' }),
    event({ type: 'user_change', user: { id: user }, event_ts: '1.2' }),
    event({ type: 'subteam_updated', subteam: { id: 'S0OPERATORS' }, event_ts: '1.2' }),
    { fields: { type: 'url_verification', challenge: 'c' }, isEvent: true },
    { fields: { ssl_check: '1', command: '/service', text: 'stop staging x', user_id: user } },
  ]);
}

function enclosed(fields: unknown, isEvent = false): Parcel {
  if (isEvent) return { type: 'application/json', body: JSON.stringify(fields) ?? '' };
  const isLine = typeof fields === 'object' && fields !== null && 'command' in fields;
  if (!isLine) return inPayload(JSON.stringify(fields) ?? '');
  const pairs = Object.entries(fields).map(([key, value]): [string, string] => [
    key,
    typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value),
  ]);
  return { type: FORM, body: new URLSearchParams(pairs).toString() };
}

function inPayload(json: string): Parcel {
  return { type: FORM, body: new URLSearchParams({ payload: json }).toString() };
}

/** Sometimes modifies the encoding of the payload. */
function torn(chance: RandomSource, parcel: Parcel): Parcel {
  const roll = chance();
  if (roll < 0.05) return { ...parcel, body: tear(chance, parcel.body) };
  if (roll < 0.07) return { ...parcel, body: `${parcel.body}&payload=%7B%7D` };
  if (roll < 0.075) return inPayload(deep(10_000));
  if (roll < 0.085) return { ...parcel, type: `${parcel.type}; charset=utf-8` };
  if (roll < 0.095) {
    return { ...parcel, type: pick(chance, ['text/plain', 'application/json', 'x/y', FORM]) };
  }
  return parcel;
}
