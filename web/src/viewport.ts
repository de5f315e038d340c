/**
 * Keeps the page above a phone's on-screen keyboard. Safari covers the page with it instead of making the page smaller,
 * whatever the viewport's meta element says.
 */
export function followKeyboard(): void {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const apply = () => {
    if (viewport.scale > 1.01) return; // zoomed in by fingers: the part that shows is not the page
    document.documentElement.style.setProperty('--visible-height', `${viewport.height}px`);
    scrollTo(0, 0); // Safari moves the page up to show the cursor
  };
  viewport.addEventListener('resize', apply);
  viewport.addEventListener('scroll', apply);
  apply();
}
