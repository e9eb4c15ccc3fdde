import type {
  ActionTriggered,
  CommandInput,
  Delivery,
  HomeOpening,
  MessageInput,
  ShortcutUsed,
  ViewClosed,
  ViewSubmission,
} from '../protocol.ts';
import { record, word } from './json.ts';

/** Reads one of the sandbox's GET addresses; throws when the sandbox does not answer. */
export async function read<T>(path: string): Promise<T> {
  return answered<T>(await fetch(`/sandbox/${path}`));
}

/** Posts and gives back what the protocol promises for that path; throws when nobody answers. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`/sandbox/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answered<T>(response);
}

async function answered<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Refused(await refusal(response));
  // The server is compiled against the same protocol and has the same origin.
  return (await response.json()) as T;
}

/** The sandbox answered, but would not do it; the message is the server's own. */
class Refused extends Error {
  override readonly name = 'Refused';
}

async function refusal(response: Response): Promise<string> {
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  const said = json ? word(record(JSON.parse(text)).error) : '';
  return said || `The sandbox answered ${response.status}.`;
}

/** What a person can do, by its path below /sandbox. */
export interface Interactions {
  readonly command: CommandInput;
  readonly message: MessageInput;
  readonly action: ActionTriggered;
  readonly submit: ViewSubmission;
  readonly close: ViewClosed;
  readonly shortcut: ShortcutUsed;
  readonly home: HomeOpening;
}

/** Hands something to the bot. Never throws: a silent sandbox is a failed delivery too. */
export async function deliver<Path extends keyof Interactions>(
  path: Path,
  body: Interactions[Path],
): Promise<Delivery> {
  try {
    return await post<Delivery>(path, body);
  } catch (cause) {
    const silent = 'The sandbox is not answering. Try again.';
    const error = cause instanceof Refused ? `The sandbox refused: ${cause.message}` : silent;
    return { status: 0, ms: 0, body: String(cause), error };
  }
}
