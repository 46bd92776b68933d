import { requestMilliseconds } from '../../runtime/request-lifetime.ts';
import { maxUnitsPerSecond } from './write-units.ts';

export interface PaceLimits {
  /** Write units a second on one partition key; what AWS allows beyond them is for others. */
  readonly unitsPerSecond?: number;
  /**
   * After so long, only a call goes on that will have ended when `maxSeconds` have passed. A
   * function has 28 s, the gateway waits for 29 s.
   */
  readonly secondsForAll?: number;
  /** After so long nothing is tried again. */
  readonly maxSeconds?: number;
}

/** What one more transaction without a throttle adds to the rate, in units a second. */
const recoveredUnits = 40;
const minUnitsPerSecond = maxUnitsPerSecond / 10;

/**
 * Spreads the transactions of one call over time, so that it leaves room on its partition keys for
 * other calls of the same user. A call of one transaction never waits.
 *
 * A call cannot know of others. So each throttle halves its rate, and each transaction without one
 * raises it again, by 40 units a second: two calls at once share a key evenly, with 90 % of what
 * AWS allows or more, by a simulation.
 */
export class WritePace {
  readonly #limits: Required<PaceLimits>;
  /** On the clock of `performance.now()`. */
  readonly #start = performance.now() - (requestMilliseconds() ?? 0);
  #unitsPerSecond: number;
  /** When the last transaction was begun. */
  #last = 0;
  #pauseMilliseconds = 0;
  #wasThrottled = false;
  #hasBegun = false;

  constructor({ unitsPerSecond = 0.8 * maxUnitsPerSecond, secondsForAll = 20, maxSeconds = 26 }: PaceLimits = {}) {
    this.#limits = { unitsPerSecond, secondsForAll, maxSeconds };
    this.#unitsPerSecond = unitsPerSecond;
  }

  /** Waits until the next transaction may be begun. */
  async wait(): Promise<void> {
    const left = this.#millisecondsToWait();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }

  /** A transaction is begun: what it is decided from is read next. */
  begin(): void {
    this.#last = performance.now();
  }

  /** The transaction was made, and took so many units on one key. */
  made(units: number): void {
    const raised = this.#wasThrottled ? 0 : recoveredUnits;
    this.#unitsPerSecond = Math.min(this.#limits.unitsPerSecond, this.#unitsPerSecond + raised);
    this.#wasThrottled = false;
    this.#hasBegun = true;
    this.#pauseMilliseconds = (1_000 * units) / this.#unitsPerSecond;
  }

  throttled(): void {
    this.#wasThrottled = true;
    this.#unitsPerSecond = Math.max(minUnitsPerSecond, this.#unitsPerSecond / 2);
  }

  /** Whether a transaction was made. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether nothing is to be tried again after so long. */
  isOver(milliseconds = 0): boolean {
    return this.#age() + milliseconds > 1_000 * this.#limits.maxSeconds;
  }

  /**
   * Whether there is time for so many changes, at the present rate, where the last transaction made
   * `made` of them. What comes between transactions may take longer: then the call stops when its
   * time is over.
   */
  hasTimeFor({ left, made }: { readonly left: number; readonly made: number }): boolean {
    const { secondsForAll, maxSeconds } = this.#limits;
    const next = this.#age() + this.#millisecondsToWait();
    if (!this.#hasBegun || next < 1_000 * secondsForAll) return true;
    return next + (left / made) * this.#pauseMilliseconds < 1_000 * maxSeconds;
  }

  #millisecondsToWait(): number {
    return Math.max(0, this.#last + this.#pauseMilliseconds - performance.now());
  }

  #age(): number {
    return performance.now() - this.#start;
  }
}
