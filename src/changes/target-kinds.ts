import type { TargetKind } from './change.ts';

/** What differs between the kinds of targets. A new kind does not compile until it is added here. */
interface TargetTraits {
  /** The label before the name of the target on a preview or a card. */
  readonly label: string;
  /** The noun of a command that the title leaves out: `service stop` on x → `Stop x`. */
  readonly impliedNoun: string | null;
  /** Where the change is applied: by the server of an API, or in the database of Signalbox. */
  readonly appliedBy: 'server' | 'signalbox';
  /** Whether the target exists before the change, so that it has an id, a state and tags. */
  readonly exists: boolean;
  /** Whether the usage report has costs for it, so that the effect of a change is measured. */
  readonly hasCosts: boolean;
  /** Whether a successful change of it can explain a change of the costs. */
  readonly affectsCosts: boolean;
  /** False for a freeze and a schedule: a freeze must not prevent users from ending them. */
  readonly canBeFrozen: boolean;
  /** The list in which a command line finds it by name; null if it is in none. */
  readonly listedIn: 'services' | 'alerts' | null;
  /** Whether it selects services, as the scope of a freeze does. */
  readonly isScope: boolean;
}

export const TARGET_TRAITS: Readonly<Record<TargetKind, TargetTraits>> = {
  service: {
    label: 'Service',
    impliedNoun: 'service',
    appliedBy: 'server',
    exists: true,
    hasCosts: true,
    affectsCosts: true,
    canBeFrozen: true,
    listedIn: 'services',
    isScope: false,
  },
  alert: {
    label: 'Alert',
    impliedNoun: null,
    appliedBy: 'server',
    exists: true,
    hasCosts: false,
    affectsCosts: false,
    canBeFrozen: true,
    listedIn: 'alerts',
    isScope: false,
  },
  'new service': {
    label: 'Service',
    impliedNoun: null,
    appliedBy: 'server',
    exists: false,
    hasCosts: false,
    affectsCosts: true,
    canBeFrozen: true,
    listedIn: null,
    isScope: false,
  },
  freeze: {
    label: 'Scope',
    impliedNoun: 'change',
    appliedBy: 'signalbox',
    exists: false,
    hasCosts: false,
    affectsCosts: true,
    canBeFrozen: false,
    listedIn: null,
    isScope: true,
  },
  // Its id is that of the service. Its runs are changes of the service, which a freeze stops.
  schedule: {
    label: 'Service',
    impliedNoun: 'service',
    appliedBy: 'signalbox',
    exists: false,
    hasCosts: false,
    affectsCosts: false,
    canBeFrozen: false,
    listedIn: null,
    isScope: false,
  },
};
