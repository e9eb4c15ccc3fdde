import type { Delivery } from '../protocol.ts';

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
  if (!response.ok) throw new Error(`The sandbox answered ${response.status}`);
  // The server is compiled against the same protocol and has the same origin.
  return (await response.json()) as T;
}

/** Hands something to the bot. Never throws: a silent sandbox is a failed delivery too. */
export async function deliver(path: string, body: unknown): Promise<Delivery> {
  try {
    return await post<Delivery>(path, body);
  } catch (cause) {
    const body = cause instanceof Error ? cause.message : String(cause);
    return { status: 0, ms: 0, body, error: 'The sandbox is not answering. Try again.' };
  }
}
