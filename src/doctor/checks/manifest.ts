import type { ReadFile } from '../../config/environment.ts';
import type { CheckContext } from '../check-context.ts';
import { type CheckLine, ok, skipped, warning } from '../line.ts';

/** Keys that depend on the delivery (Socket Mode or HTTP) and on the address. */
const DEPLOYMENT_KEYS = ['url', 'request_url', 'message_menu_options_url', 'socket_mode_enabled'];

/** Compares the manifest file with the manifest of this release and command prefix. */
export function manifestLine(written: CheckContext['manifest'], expected: unknown): CheckLine {
  if (written === null) return skipped('manifest', 'no manifest.json to compare');
  const { file, content } = written;
  if (comparable(content) === comparable(expected))
    return ok('manifest', `${file} matches this release`);
  const fix =
    'run signalbox manifest (with your --prefix, --url), paste it under App Manifest, reinstall';
  return warning('manifest', `${file} does not match this release and prefix`, fix);
}

function comparable(manifest: unknown): string {
  return JSON.stringify(manifest, (key, value) =>
    DEPLOYMENT_KEYS.includes(key) ? undefined : value,
  );
}

const MANIFESTS = ['manifest.local.json', 'manifest.json'];

/** The manifest file in the working directory; the local one wins. Null without a readable file. */
export function readManifest(readFile: ReadFile): CheckContext['manifest'] {
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
    // Signalbox can be installed without this file; then there is nothing to compare.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Invalid JSON becomes null, which matches no manifest. */
function contentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
