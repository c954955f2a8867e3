/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The site of `./dev docs`: buttons and links that the theme shows as a sign alone get a name. */
for (const [which, name] of [["[data-target='#navbar-collapse']", "Pages"], ["[data-target='#toc-collapse']", "Table of contents"], ["[data-dismiss='modal']", "Close"], [".headerlink", "Link to this heading"]]) {
  for (const control of document.querySelectorAll(which)) control.setAttribute("aria-label", name);
}
