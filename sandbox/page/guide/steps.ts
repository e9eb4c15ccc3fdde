import type { GuideStepId } from '../../protocol.ts';
import { SLACKBOT_CHANNEL } from '../../slack/workspace/workspace.ts';

/** A person in a channel, by the names of a link. `title`: how the place is called; missing: as the channel. */
export interface GuidePlace {
  readonly title?: string;
  readonly as: string;
  readonly channel: string;
}

/** A command, and who sends it where. */
export interface CommandToSend extends GuidePlace {
  readonly line: string;
}

export interface GuideStep {
  readonly id: GuideStepId;
  readonly title: string;
  readonly text: string;
  readonly command?: CommandToSend;
  readonly places: readonly GuidePlace[];
  /** A button that prepares the simulators. */
  readonly prepare?: 'fault' | 'morning';
}

/** One button of a step. */
export type GuideAction =
  | { readonly kind: 'prepare'; readonly what: 'fault' | 'morning' }
  | { readonly kind: 'insert'; readonly command: CommandToSend }
  | { readonly kind: 'act-as'; readonly place: GuidePlace };

/** The buttons of a step, in the order in which a person needs them. */
export function actionsOf({ prepare, command, places }: GuideStep): readonly GuideAction[] {
  return [
    ...(prepare === 'fault' ? [{ kind: 'prepare', what: prepare } as const] : []),
    ...(command ? [{ kind: 'insert', command } as const] : []),
    ...(prepare === 'morning' ? [{ kind: 'prepare', what: prepare } as const] : []),
    ...places.map((place) => ({ kind: 'act-as', place }) as const),
  ];
}

const OPS = 'ops';
const APPROVALS = 'db-approvals';

/** What the first button of the page writes into the composer. */
export const FIRST_COMMAND: CommandToSend = {
  ...{ as: 'ana', channel: OPS },
  line: '/service stop analytics-prod nightly maintenance',
};

export const GUIDE_STEPS: readonly GuideStep[] = [
  {
    id: 'request',
    title: 'Request a change',
    text: 'Send the command with Enter, then press Request approval. Only Ana sees the preview.',
    command: FIRST_COMMAND,
    places: [],
  },
  {
    id: 'refusal',
    title: 'Try to approve it yourself',
    text: 'Press Approve on your own card. The refusal says who can approve.',
    places: [{ as: 'ana', channel: APPROVALS }],
  },
  {
    id: 'approve',
    title: 'Approve it',
    text: 'Production needs two approvers. Press Approve as each of them. Signalbox then sends the request once.',
    places: [
      { as: 'ben', channel: APPROVALS },
      { as: 'cleo', channel: APPROVALS },
    ],
  },
  {
    id: 'unknown',
    title: 'Lose an answer',
    text: 'Inject the fault, request this change and approve it as Ben. Then answer on the card: did it happen?',
    prepare: 'fault',
    command: { as: 'ana', channel: OPS, line: '/service stop staging for the night' },
    places: [{ as: 'ben', channel: APPROVALS }],
  },
  {
    id: 'costs',
    title: 'Ask for costs',
    text: 'Send the command. Then move the clock: the digest of the next morning is in #db-costs.',
    command: { as: 'dora', channel: OPS, line: '/cost' },
    prepare: 'morning',
    places: [{ as: 'dora', channel: 'db-costs' }],
  },
  {
    id: 'ask',
    title: 'Ask in words',
    text: "Ask Slackbot, and allow its call. Then press Request approval in the messages of Signalbox, and approve as Ben. The sandbox's Slackbot has no model: the top of its page says which sentences it understands.",
    command: {
      ...{ as: 'ana', channel: SLACKBOT_CHANNEL, title: 'Slackbot' },
      line: 'stop analytics-dev, tests are done',
    },
    places: [
      { as: 'ana', channel: 'D0ANA00001', title: 'Signalbox' },
      { as: 'ben', channel: APPROVALS },
    ],
  },
];

/** The fault of the fourth step: the server applies the change, but its answer is lost. */
export const LOST_ANSWER = {
  api: 'cloud',
  operation: 'set state',
  fault: 'close-after-effect',
  times: 1,
} as const;
