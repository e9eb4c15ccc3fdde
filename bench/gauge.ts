/**
 * Loaded before anything else into every process that is measured: it tells the one who started it
 * what the process has used so far, and ends it when that one is gone.
 */
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 });
});
process.on('disconnect', () => process.exit());
// Being measured must not keep a process alive that has nothing left to do.
process.channel?.unref();
