// Runs inside a copy of a report: opens all its folds, waits for its images, and tells the page around it what it sees.
addEventListener("load", async () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const images = [...document.images];
  await Promise.all(images.map(image => image.decode().catch(() => null)));
  const wide = innerWidth;
  const box = one => one.getBoundingClientRect();
  const seen = one => box(one).width > 0 && box(one).height > 0 && (one.matches(".scroll") || !one.closest(".scroll"));
  const all = names => [...document.querySelectorAll(names)].filter(seen);
  const said = one => `${one.tagName}: ${one.textContent.slice(0, 40)}`;

  const out = all("h1,h2,h3,h4,h5,p,li,summary,figcaption,dt,dd,text,img,.scroll")
    .filter(one => box(one).right > wide + 1 || box(one).left < -1);
  const cut = all("h1,h2,h3,h4,h5,p,li,summary,figcaption,dd").filter(one => one.scrollWidth > one.clientWidth + 1);
  const blocks = all("h1,h2,h3,h4,h5,p,li,figcaption,img,.scroll,svg.chart:not(.strip)")
    .filter((one, _, every) => !every.some(other => other !== one && other.contains(one)));
  const over = [];
  for (let at = 1; at < blocks.length; at++) {
    const a = box(blocks[at - 1]), b = box(blocks[at]);
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && down > 2) over.push(`${said(blocks[at - 1])} over ${said(blocks[at])}`);
  }
  // letters of one chart must not lie on each other
  for (const chart of all("figure svg.chart")) {
    const words = [...chart.querySelectorAll("text")].map(one => [one, box(one)]);
    words.forEach(([one, a], at) => words.slice(at + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3) over.push(`${chart.ariaLabel}: ${said(one)} over ${said(other)}`);
    }));
  }

  const style = getComputedStyle(document.body);
  const fetched = performance.getEntriesByType("resource").map(one => one.name).filter(name => !name.startsWith("data:"));
  parent.postMessage(JSON.stringify({
    inner: wide, scroll: document.documentElement.scrollWidth, images: images.length,
    broken: images.filter(image => !image.naturalWidth).length,
    out: out.map(said), cut: cut.map(said), over, background: style.backgroundColor, ink: style.color, fetched,
  }), "*");
});
