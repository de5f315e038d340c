const FIRST = 250;
const LONGEST = 10_000;

/** The waits between attempts to reconnect: 0.25 s doubling to 10 s, each shortened at random by up to a half. */
export class Backoff {
  private wait = FIRST;

  /** `random` gives numbers from 0 up to 1. */
  constructor(private readonly random: () => number = Math.random) {}

  /** Returns the next wait in milliseconds. */
  next(): number {
    const wait = this.wait * (1 - this.random() / 2);
    this.wait = Math.min(this.wait * 2, LONGEST);
    return wait;
  }

  /** Starts over with the shortest wait. */
  reset(): void {
    this.wait = FIRST;
  }
}
