import type { ReadFile } from '../config/environment.ts';
import type { Config } from '../config/load-config.ts';
import type { CheckContext } from './check-context.ts';

const MANIFESTS = ['manifest.local.json', 'manifest.json'];

/** The manifest that was written last for this place: one of its own comes before the common one. */
export function manifestBeside(readFile: ReadFile): CheckContext['manifest'] {
  for (const file of MANIFESTS) {
    const text = textOf(file, readFile);
    if (text !== null) return { file, content: contentOf(text) };
  }
  return null;
}

function textOf(file: string, readFile: ReadFile): string | null {
  try {
    return readFile(file);
  } catch (error) {
    // Where Signalbox is installed without it there is nothing to compare, which is no problem.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** What cannot be read is like nothing that is wanted. */
function contentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Every value that must not be seen in a report. */
export function secretsOf(config: Config): readonly string[] {
  const { slack, cloud, alerts, databaseUrl, key, tracing } = config;
  const secrets = [slack.botToken, slack.appToken, slack.signingSecret, cloud.keySecret];
  const headers = [...(tracing?.headers.values() ?? [])];
  const shown = [...secrets, ...headers, alerts?.token, key].flatMap(
    (secret) => secret?.reveal() ?? [],
  );
  return [...shown, ...passwordsIn(databaseUrl.reveal())];
}

function passwordsIn(url: string): readonly string[] {
  if (url.startsWith('file:') || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  return password === '' ? [url] : [url, password, decodeURIComponent(password)];
}
