import type { CheckContext } from '../check-context.ts';
import { type CheckLine, ok, skipped, warning } from '../line.ts';

/** These differ between Socket Mode and HTTP, and between one address and another. */
const OF_THE_PLACE = ['url', 'request_url', 'message_menu_options_url', 'socket_mode_enabled'];

/** Whether the file that is pasted into Slack is what this release and prefix need. */
export function manifestLine(beside: CheckContext['manifest'], fresh: unknown): CheckLine {
  if (beside === null) return skipped('manifest', 'there is no manifest.json here to compare');
  const { file, content } = beside;
  if (essence(content) === essence(fresh)) return ok('manifest', `${file} is of this release`);
  const fix =
    'npm run manifest (with your --prefix, --url), paste it under App Manifest, reinstall';
  return warning('manifest', `${file} is not what this release and prefix need`, fix);
}

function essence(manifest: unknown): string {
  return JSON.stringify(manifest, (key, value) => (OF_THE_PLACE.includes(key) ? undefined : value));
}
