import { type Command, nounOf } from '../../commands/define.ts';
import { INCIDENT_VERBS } from '../../domain/answer.ts';
import { VERBS } from '../../domain/change.ts';
import { ACCEPT_GAP } from '../../workflow/clicks.ts';
import { OVERFLOW } from '../blocks/blocks.ts';
import { callbackIdOf } from '../forms/form.ts';
import { PALETTE } from '../forms/palette.ts';

type Body = Readonly<Record<string, unknown>>;

const CHANGE = [...VERBS, 'edit', 'undo', 'take-back', 'request-again', 'reveal', 'details'];
const INCIDENT = [...INCIDENT_VERBS, 'details'];
const BUTTONS = [
  ...CHANGE.map((verb) => `change.${verb}`),
  ...INCIDENT.map((verb) => `incident.${verb}`),
  ACCEPT_GAP,
];
const EVENTS = [
  'app_home_opened',
  'app_mention',
  'message',
  'subteam_updated',
  'subteam_members_changed',
  'user_change',
];

/** The name of a payload in traces. Unknown values are `other`, because users can choose them. */
export function payloadNames(commands: readonly Command[], prefix: string) {
  const nouns = new Set(['signalbox', ...commands.map(nounOf)]);
  const forms = [PALETTE, ...commands.map(callbackIdOf), ...BUTTONS];
  const among = (known: readonly string[], word: unknown) =>
    known.find((each) => each === word) ?? 'other';

  return (body: Body): string => {
    if (typeof body.command === 'string') {
      const noun = body.command.replace(/^\//, '').slice(prefix.length);
      return `command ${nouns.has(noun) ? noun : 'other'}`;
    }
    switch (body.type) {
      case 'block_actions':
        return `press ${buttonOf(body)}`;
      case 'view_submission':
        return `submit ${among(forms, part(body.view).callback_id)}`;
      case 'shortcut':
      case 'message_action':
        return `shortcut ${among(forms, body.callback_id)}`;
      case 'block_suggestion':
        return 'suggest';
      case 'event_callback':
        return `event ${among(EVENTS, part(body.event).type)}`;
      default:
        return 'payload other';
    }
  };
}

function buttonOf({ actions }: Body): string {
  const action = Array.isArray(actions) ? part(actions[0]) : {};
  const id = action.action_id === OVERFLOW ? chosenButton(action) : action.action_id;
  if (typeof id === 'string' && id.startsWith('command.')) return 'command';
  return BUTTONS.find((each) => each === id) ?? 'other';
}

/** The id of the button that an option of an overflow menu stands for. */
function chosenButton({ selected_option }: Body): unknown {
  const { value } = part(selected_option);
  return typeof value === 'string' ? value.split(' ')[0] : undefined;
}

function part(value: unknown): Body {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
