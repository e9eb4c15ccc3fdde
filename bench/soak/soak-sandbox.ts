import { startSimulators } from '../../test/harness/simulators.ts';
import { startSide } from '../side.ts';
import { organization, workspace, yaml } from './organization.ts';

/** The simulators in this process, where the test can inspect them, and the bot in a child process. */
export async function startSoakSandbox(folder: string) {
  const { slack, cloud, alerts, env, stop } = await startSimulators({ organization, workspace });
  const bot = await startSide('signalbox', {
    // The injected faults cause many warnings, which would hide the result.
    env: { ...env, LOG_LEVEL: 'fatal' },
    folder,
    profile: null,
    yaml: yaml(),
  });
  slack.deliverTo(`${bot.origin}/slack/events`);
  const close = async () => {
    await bot.stop();
    await stop();
  };
  return { slack, cloud, alerts, bot, close };
}

export type SoakSandbox = Awaited<ReturnType<typeof startSoakSandbox>>;
