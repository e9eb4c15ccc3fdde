/** Loaded before the bot, in a process of its own: makes happen there what should never happen. */
const FAULTS: Readonly<Record<string, () => void>> = {
  'a promise that nobody waits for': () => {
    void Promise.reject(new Error(`it failed with ${process.env.SLACK_BOT_TOKEN}`));
  },
  'an error that nobody catches': () => {
    throw new Error(`it failed with ${process.env.SLACK_BOT_TOKEN}`);
  },
};

process.on('SIGUSR2', () => FAULTS[process.env.FAULT ?? '']?.());
