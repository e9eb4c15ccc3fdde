/** Loaded before the bot in a child process: SIGUSR2 triggers the fault that FAULT names. */
const FAULTS: Readonly<Record<string, () => void>> = {
  'an unhandled promise rejection': () => {
    void Promise.reject(new Error(`it failed with ${process.env.SLACK_BOT_TOKEN}`));
  },
  'an uncaught error': () => {
    throw new Error(`it failed with ${process.env.SLACK_BOT_TOKEN}`);
  },
};

process.on('SIGUSR2', () => FAULTS[process.env.FAULT ?? '']?.());
