import { z } from 'zod';
import {
  MaybeNumber,
  MaybeSwitch,
  MaybeText,
  tolerant,
  tolerantList,
} from '../../base/http-rows.ts';

const Sizes = z.object({
  minReplicaMemoryGb: MaybeNumber,
  maxReplicaMemoryGb: MaybeNumber,
  minReplicas: MaybeNumber,
  maxReplicas: MaybeNumber,
  idleScaling: MaybeSwitch,
  idleTimeoutMinutes: MaybeNumber,
});

const Entry = Sizes.extend({
  id: MaybeText,
  name: MaybeText,
  /** 0 is Sunday. */
  weekdays: tolerant(z.array(z.int().min(0).max(6))),
  /** UTC; the end is exclusive. An entry that ends before it starts lasts over midnight. */
  startHourUtc: MaybeNumber,
  endHourUtc: MaybeNumber,
  autoscalingMode: MaybeText,
  isActiveNow: MaybeSwitch,
});

/** Sizes of a service by the time of the week. `baseConfig` applies while no entry is active. */
export const ScalingSchedule = z.object({
  entries: tolerantList(Entry),
  baseConfig: tolerant(Sizes),
  activeEntryId: MaybeText,
});

export type ScalingSchedule = z.infer<typeof ScalingSchedule>;
