import { useEffect, useState } from 'react';
import { record, stringOf } from '../json.ts';
import type { Delivery, Interactions } from '../protocol.ts';

/** Reads a path below /sandbox; throws when the sandbox does not answer or refuses. */
export async function read<T>(path: string): Promise<T> {
  return readReply<T>(await fetch(`/sandbox/${path}`));
}

/** Posts to a path below /sandbox; throws when the sandbox does not answer or refuses. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`/sandbox/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return readReply<T>(response);
}

async function readReply<T>(response: Response): Promise<T> {
  // The server has the same origin and is compiled with the same protocol.
  if (response.ok) return (await response.json()) as T;
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const reason = isJson ? stringOf(record(JSON.parse(text)).error) : '';
  throw new SandboxRefusal(reason || `The sandbox answered ${response.status}.`);
}

/** The server of the sandbox refused the request; the message is the server's reason. */
class SandboxRefusal extends Error {
  override readonly name = 'SandboxRefusal';
}

/** What the sandbox answers at a path: read for each version, and posted to. `problem`: why it did not answer. */
export function useServed<T>(path: string, version: number) {
  const [state, setState] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const show = (answer: Promise<T>) =>
    answer.then(
      (next) => {
        setState(next);
        setProblem(null);
      },
      (error: unknown) => setProblem(String(error instanceof Error ? error.message : error)),
    );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads again for each version
  useEffect(() => {
    void show(read<T>(path));
  }, [path, version]);

  return { state, problem, send: (to: string, body: object) => void show(post<T>(to, body)) };
}

/** Sends an interaction to the bot. It never rejects: no answer is a failed delivery. */
export async function deliver<Path extends keyof Interactions>(
  path: Path,
  input: Interactions[Path],
): Promise<Delivery> {
  try {
    return await post<Delivery>(path, input);
  } catch (cause) {
    const error =
      cause instanceof SandboxRefusal
        ? `The sandbox refused the request: ${cause.message}`
        : 'The sandbox does not answer. Try again.';
    return { status: 0, ms: 0, body: String(cause), error };
  }
}
