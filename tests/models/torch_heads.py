# SPDX-License-Identifier: Apache-2.0
"""Heads of detectors and segmentation, networks for sound and for volumes: more networks for
torch_models.py. NETWORKS maps a name to a function that makes a network and its inputs."""
import torch
from torch import nn
from torch.nn import functional as F


class Segmenter(nn.Module):
    """Dilated convolutions side by side, enlarged to the picture's size."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.SiLU(),
            nn.Conv2d(12, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.Hardswish())
        self.dilated = nn.ModuleList(nn.Conv2d(24, 8, 3, padding=d, dilation=d)
                                     for d in (1, 2, 4))
        self.classes = nn.Conv2d(24, 4, 1)

    def forward(self, x):
        y = self.features(x)
        y = torch.cat([F.relu(conv(y)) for conv in self.dilated], 1)
        return F.interpolate(self.classes(y), size=x.shape[2:], mode="bilinear",
                             align_corners=False)


class Detector(nn.Module):
    """Two scales; boxes are means of distributions over 16 distances."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.fine, self.coarse = nn.Conv2d(16, 32, 3, 2, 1), nn.Conv2d(32, 32, 3, 2, 1)
        self.side_fine, self.side_coarse = nn.Conv2d(32, 24, 1), nn.Conv2d(32, 24, 1)
        self.box, self.kind = nn.Conv2d(24, 64, 3, padding=1), nn.Conv2d(24, 5, 3, padding=1)
        self.register_buffer("distances", torch.arange(16).float().view(1, 1, 16, 1))

    def head(self, y, stride):
        b, kinds = self.box(y).flatten(2), self.kind(y).flatten(2)
        b = (b.view(1, 4, 16, -1).softmax(2) * self.distances).sum(2)
        side = torch.arange(int(b.shape[-1] ** 0.5)) + 0.5
        rows, columns = torch.meshgrid(side, side, indexing="ij")
        middle = torch.stack((columns.flatten(), rows.flatten()))[None]
        first, last = middle - b[:, :2], middle + b[:, 2:]
        boxes = torch.cat(((first + last) / 2, last - first), 1) * stride
        return torch.cat((boxes, kinds.sigmoid()), 1)

    def forward(self, x):
        fine = F.silu(self.fine(F.silu(self.stem(x))))
        coarse = self.side_coarse(F.silu(self.coarse(fine)))
        fine = self.side_fine(fine) + F.interpolate(coarse, scale_factor=2.0)
        return torch.cat((self.head(fine, 4), self.head(coarse, 8)), 2)


class Transcriber(nn.Module):
    """Convolutions over time, then two recurrent layers in both directions."""

    def __init__(self, cell):
        super().__init__()
        self.first, self.second = nn.Conv1d(20, 32, 3, padding=1), nn.Conv1d(32, 32, 3, 2, 1)
        self.cell = cell(32, 24, 2, batch_first=True, bidirectional=True)
        self.letters = nn.Linear(48, 12)

    def forward(self, x):
        y = F.gelu(self.second(F.gelu(self.first(x))))
        return F.log_softmax(self.letters(self.cell(y.transpose(1, 2))[0]), -1)


class Conformer(nn.Module):
    """Attention and a gated depthwise convolution between two halves of a feed-forward net."""

    def __init__(self, width=32):
        super().__init__()
        self.input = nn.Linear(20, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(5))
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.before, self.after = (nn.Sequential(nn.Linear(width, 64), nn.SiLU(),
                                                 nn.Linear(64, width)) for _ in range(2))
        self.gate = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.batch, self.point = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)

    def forward(self, x):
        x = self.input(x)
        x = x + 0.5 * self.before(self.norms[0](x))
        y = self.norms[1](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.gate(self.norms[2](x).transpose(1, 2)), 1)
        x = x + self.point(F.silu(self.batch(self.depthwise(y)))).transpose(1, 2)
        return self.norms[4](x + 0.5 * self.after(self.norms[3](x)))


class Vocoder(nn.Module):
    """From bands to samples: transposed convolutions over time."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv1d(20, 32, 7, padding=3), nn.Conv1d(8, 1, 7, padding=3)
        self.up = nn.ConvTranspose1d(32, 16, 8, 4, 2)
        self.more = nn.ConvTranspose1d(16, 8, 4, 2, 1)
        self.residual = nn.Conv1d(8, 8, 3, padding=3, dilation=3)

    def forward(self, x):
        y = self.more(F.leaky_relu(self.up(F.leaky_relu(self.first(x), 0.1)), 0.1))
        y = y + self.residual(F.leaky_relu(y, 0.1))
        return torch.tanh(self.last(y))


class Video(nn.Module):
    """Convolutions and pools over frames, rows and columns."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv3d(3, 8, 3, padding=1), nn.Conv3d(8, 16, 3, padding=1)
        self.classes = nn.Linear(16, 5)

    def forward(self, x):
        y = F.max_pool3d(F.relu(self.first(x)), (1, 2, 2))
        y = F.max_pool3d(F.relu(self.second(y)), 2)
        return self.classes(y.mean((2, 3, 4)))


class Volumes(nn.Module):
    """A U-Net of one step over volumes."""

    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv3d(1, 8, 3, padding=1), nn.Conv3d(8, 16, 3, 2, 1)
        self.up, self.classes = nn.ConvTranspose3d(16, 8, 2, 2), nn.Conv3d(16, 2, 1)

    def forward(self, x):
        y = F.relu(self.down(x))
        return self.classes(torch.cat((y, F.relu(self.up(F.relu(self.deep(y))))), 1))


NETWORKS = {
    "segmenter": lambda: (Segmenter(), (torch.randn(1, 3, 48, 48),)),
    "detector": lambda: (Detector(), (torch.randn(1, 3, 32, 32),)),
    "transcriber_lstm": lambda: (Transcriber(nn.LSTM), (torch.randn(1, 20, 24),)),
    "transcriber_gru": lambda: (Transcriber(nn.GRU), (torch.randn(1, 20, 24),)),
    "conformer": lambda: (Conformer(), (torch.randn(1, 16, 20),)),
    "vocoder": lambda: (Vocoder(), (torch.randn(1, 20, 12),)),
    "video": lambda: (Video(), (torch.randn(1, 3, 4, 16, 16),)),
    "volumes": lambda: (Volumes(), (torch.randn(1, 1, 8, 8, 8),)),
}
